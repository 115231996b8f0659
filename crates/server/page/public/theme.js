// Applies the stored theme before the first paint, to avoid a flash of the other one.
try {
  const { theme, board } = JSON.parse(localStorage.getItem("crownhead.settings"));
  if (board === "green" || board === "contrast") document.documentElement.dataset.board = board;
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // No settings are stored: use the system's theme.
}

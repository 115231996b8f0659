// The chosen theme is set before the first paint, so that no other one flashes up.
try {
  const { theme } = JSON.parse(localStorage.getItem("crownhead.settings"));
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Nothing is kept yet: the system's theme it is.
}

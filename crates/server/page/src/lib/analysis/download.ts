/** Saves data of the page as a file. */
export function download(name: string, content: string | Blob, type: string) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has started to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

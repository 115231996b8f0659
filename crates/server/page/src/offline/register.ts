/** Registers the service worker, and keeps the engine for use offline once the app is installed. */

/** After the page has loaded, so that it delays nothing. Browsers have it on https and localhost. */
export function registerServiceWorker() {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  addEventListener("load", () => {
    // Without it the page works, but not offline.
    navigator.serviceWorker.register("/sw.js").catch(() => {});
  });
  addEventListener("appinstalled", () => {
    fetch("/crownhead.wasm").catch(() => {});
  });
}

const FILES = ["/assets/Puzzles-Do0sFlOW.js","/assets/analysis-FWiuQWyO.js","/assets/index-lLPx58Pa.js","/assets/style-BoemB9uS.css","/assets/worker-Dv99VZDI.js","/favicon.svg","/manifest.webmanifest","/theme.js"];
const PAGE_CACHE = `page ${FILES.join(" ")}`;
const LATEST_CACHE = "latest";

self.addEventListener("install", (event) => {
const install = async () => {
const cache = await caches.open(PAGE_CACHE);
await cache.addAll(["/", ...FILES]);
await self.skipWaiting();
};
event.waitUntil(install());
});

self.addEventListener("activate", (event) => {
const activate = async () => {
const names = await caches.keys();
const old = names.filter((name) => name !== PAGE_CACHE && name !== LATEST_CACHE);
await Promise.all(old.map((name) => caches.delete(name)));
await self.clients.claim();
};
event.waitUntil(activate());
});

const isKept = (path) =>
path === "/crownhead.wasm" ||
path === "/api/games" ||
/^\/api\/(rules|puzzles)\/[\w-]+$/.test(path);

async function latest(request) {
const cache = await caches.open(LATEST_CACHE);
try {
const response = await fetch(request);
if (response.ok) await cache.put(request, response.clone());
return response;
} catch (error) {
const kept = await cache.match(request);
if (kept) return kept;
throw error;
}
}

async function page(request) {
try {
return await fetch(request);
} catch (error) {
const kept = await caches.match("/", { cacheName: PAGE_CACHE });
if (kept) return kept;
throw error;
}
}

self.addEventListener("fetch", (event) => {
const { request } = event;
const { origin, pathname } = new URL(request.url);
if (request.method !== "GET" || origin !== location.origin) return;
if (request.mode === "navigate") {
if (!pathname.startsWith("/api/")) event.respondWith(page(request));
} else if (isKept(pathname)) {
event.respondWith(latest(request));
} else if (FILES.includes(pathname)) {
event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
}
});

/** Client-side routes. */
import { storeLinkSecret } from "./stores/seats";

export type Route =
  | { page: "home" }
  | { page: "game"; id: string; visit: number }
  | { page: "rules"; id: string | null }
  | { page: "puzzles"; id: string | null }
  | { page: "analyse"; hash: string }
  | { page: "fleet" }
  | { page: "notFound" };

/** Number of seat links opened: each one joins the game again. */
let visit = 0;

function parsePath(path: string): Route {
  const [first = "", second = "", ...rest] = path.split("/").slice(1);
  if (rest.length > 0) return { page: "notFound" };
  if (first === "" && second === "") return { page: "home" };
  if (first === "game" && second) return { page: "game", id: second, visit };
  if (first === "analyse" && second === "") return { page: "analyse", hash: location.hash };
  if (first === "fleet" && second === "") return { page: "fleet" };
  if (first === "puzzles") return { page: "puzzles", id: second || null };
  if (first === "rules") return { page: "rules", id: second || null };
  return { page: "notFound" };
}

/** Reads the address, and moves a seat secret from it into the storage. */
function readLocation(): Route {
  const route = parsePath(location.pathname);
  const [secret = "", friend = ""] = location.hash.slice(1).split(".");
  if (route.page === "game" && /^[\w-]{1,64}$/.test(secret)) {
    storeLinkSecret(route.id, secret, /^[\w-]{1,64}$/.test(friend) ? friend : null);
    history.replaceState(null, "", location.pathname);
    visit += 1;
    return { ...route, visit };
  }
  return route;
}

let current: Route = $state.raw(readLocation());

export const currentRoute = () => current;

export function navigate(path: string) {
  history.pushState(null, "", path);
  current = readLocation();
  scrollTo(0, 0);
  // Screen readers continue at the new page.
  document.querySelector("main")?.focus({ preventScroll: true });
}

// Also fires when only the fragment of the address changes, for a seat link pasted into this tab.
addEventListener("popstate", () => (current = readLocation()));

/** Follows a link within the application without loading the page again. */
export function interceptLink(event: MouseEvent) {
  const link = (event.target as Element).closest?.("a");
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
  if (link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  navigate(link.pathname + link.hash);
}

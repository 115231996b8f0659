import { expect, test } from "vitest";
import { arrow, centre, toggleShape } from "./shapes";

test("cells have their centres where the board shows them", () => {
  expect(centre("11", false)).toEqual({ x: 0.5, y: 0.5 });
  expect(centre("28", false)).toEqual({ x: 7.5, y: 1.5 });
  expect(centre("28", true)).toEqual({ x: 0.5, y: 6.5 });
});

test("an arrow starts in its first cell and points to its last", () => {
  const { line, head } = arrow(["41", "45"], false);
  expect(line).toBe("M0.5 3.5L4.044 3.500");
  expect(head).toBe("M4.380 3.500L3.960 3.710L3.960 3.290z");
});

test("an arrow goes through the cells of its path, and back to where it started", () => {
  expect(arrow(["11", "13", "33"], false).line).toBe("M0.5 0.5L2.5 0.5L2.500 2.044");
  expect(arrow(["33", "35", "33"], false).line).toMatch(/^M2.5 2.5L4.5 2.5L/);
});

test("drawing a shape again removes it", () => {
  const one = toggleShape([], ["11"]);
  const two = toggleShape(one, ["11", "22"]);
  expect(two).toHaveLength(2);
  expect(toggleShape(two, ["11", "22"])).toEqual(one);
});

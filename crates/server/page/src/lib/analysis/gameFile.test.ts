import { expect, test } from "vitest";
import { sortInSlices } from "./gameFile.svelte";

test("a long list is sorted stably", async () => {
  const items = Array.from({ length: 30_000 }, (_, i) => ({ key: (i * 7919) % 100, i }));
  const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
  expect(await sortInSlices(items, compare, () => false)).toEqual(items.toSorted(compare));
  expect(await sortInSlices([], compare, () => false)).toEqual([]);
});

test("sorting ends when its result is no longer wanted", async () => {
  const items = Array.from({ length: 30_000 }, (_, i) => -i);
  expect(
    await sortInSlices(
      items,
      (a, b) => a - b,
      () => true,
    ),
  ).toBeNull();
});

/** Calls a function with the latest of many values, not more often than an interval allows. */
export interface Latest<T> {
  push(value: T): void;
  /** No call after this, except one with a last value. */
  end(last?: T): void;
}

export function latest<T>(call: (value: T) => void, interval: number): Latest<T> {
  let waiting: { value: T } | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  const next = () => {
    timer = undefined;
    if (!waiting) return;
    const { value } = waiting;
    waiting = null;
    timer = setTimeout(next, interval);
    call(value);
  };
  return {
    push(value) {
      if (ended) return;
      waiting = { value };
      if (timer === undefined) next();
    },
    end(last) {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      if (last !== undefined) call(last);
    },
  };
}

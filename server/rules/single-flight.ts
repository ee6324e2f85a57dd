/** Runs `work`, unless work for the same key is under way: then the caller shares its result. */
type SingleFlight<Result> = (key: string | null, work: () => Promise<Result>) => Promise<Result>;

export function createSingleFlight<Result>(): SingleFlight<Result> {
  const underWay = new Map<string | null, Promise<Result>>();
  return (key, work) => {
    const working = underWay.get(key) ?? work().finally(() => underWay.delete(key));
    underWay.set(key, working);
    return working;
  };
}

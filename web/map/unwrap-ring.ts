import type { Position } from 'geojson'

/**
 * A ring that crosses the date line jumps from one end of the map to the other, and would be drawn right across
 * it. This one goes on past 180 degrees instead, which the map draws on both sides. A ring around a pole is
 * closed along that pole.
 */
export function unwrapRing(ring: readonly Position[]): Position[] {
  let turns = 0
  const unwrapped: Position[] = []
  for (const [at, [lng = 0, lat = 0]] of ring.entries()) {
    const before = ring[at - 1]?.[0] ?? lng
    if (lng - before > 180) turns--
    else if (before - lng > 180) turns++
    unwrapped.push([lng + 360 * turns, lat])
  }
  const [first, last] = [unwrapped[0], unwrapped.at(-1)]
  if (turns === 0 || !first || !last || first[0] === last[0]) return unwrapped
  const pole = (first[1] ?? 0) < 0 ? -90 : 90
  return [...unwrapped, [last[0] ?? 0, pole], [first[0] ?? 0, pole], first]
}

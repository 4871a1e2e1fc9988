/** New records in the order in which they can be written. */
export interface WriteRounds {
  /** Positions: those of a round need records of earlier rounds only. */
  rounds: number[][]
  /** Records that need themselves, each other in a circle, or one of these. */
  stuck: ReadonlySet<number>
}

/**
 * Orders records that need each other, for example because a required link names another new record.
 *
 * @param needs the positions of the records that a record needs
 */
export function roundsOf(count: number, needs: (position: number) => readonly number[]): WriteRounds {
  const dependents = Array.from({ length: count }, (): number[] => [])
  const missing = dependents.map((_, position) => {
    const needed = new Set(needs(position))
    for (const other of needed) dependents[other]?.push(position)
    return needed.size
  })
  const rounds: number[][] = []
  const stuck = new Set(missing.keys())
  let round = [...stuck].filter((position) => missing[position] === 0)
  while (round.length > 0) {
    rounds.push(round)
    for (const position of round) stuck.delete(position)
    const next = round.flatMap((position) => dependents[position] ?? [])
    round = next.filter((position) => --missing[position]! === 0).sort((a, b) => a - b)
  }
  return { rounds, stuck }
}

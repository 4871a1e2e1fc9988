import type { HomeClient } from '../sources.ts'
import {
  type BaseMove,
  type BaseMoves,
  capitalized,
  HOMES,
  type Installation,
  moveCommandOf,
  unfinishedBaseMove,
} from './installation.ts'
import { copyHome, createTally, type MovedBase, readBases } from './move-home.ts'

/** The bases of a call that moved, and what was compared for them. */
export interface BaseMoveSummary {
  moved: MovedBase[]
  /** Bases whose home was there already. */
  kept: MovedBase[]
  tables: number
  rows: number
  checksum: string
}

/** Both places of an installation whose metadata are in PostgreSQL. */
export type Places = Record<HomeClient, Installation>

/**
 * Moves the homes of bases to the other engine, one after the other. Servers refuse to start meanwhile, so that nothing
 * changes; each base uses its new home from one transaction on, after all its cells were compared. Interrupted at any
 * point, the same call goes on after the last row that was stored. Former homes are kept and never written to again.
 *
 * @param tell receives a line of progress
 * @throws Error that says why it cannot begin, or which cell differs
 */
export async function moveBases(
  places: Places,
  baseIds: readonly string[],
  to: HomeClient,
  tell: (line: string) => void,
): Promise<BaseMoveSummary> {
  const [source, target] = [places[HOMES[to].from], places[to]]
  const moves = await movesOf(places)
  const bases = await chosenBases(places, baseIds)
  const [moved, kept] = [bases.filter(({ home }) => home !== to), bases.filter(({ home }) => home === to)]
  const begun = unfinishedBaseMove(await moves.list())
  if (begun) refuseOther(begun, moved, to)
  else if (moved.length > 0) {
    await refuseFormerData(places, moved, to, await moves.list())
    for (const base of moved) {
      if (base.tableNames.size > 0 && !(await source.hasHome(base.id)))
        throw new Error(`The data of base “${base.title}” (${source.homeName(base.id)}) is missing`)
    }
    await moves.begin(
      moved.map(({ id }) => id),
      to,
    )
  }
  const tally = createTally()
  for (const base of moved) {
    await copyHome(base, source, target, tally, tell, places.pg.requireLock)
    await moves.finish(base.id, to)
  }
  return { moved, kept, tables: tally.tables, rows: tally.rows, checksum: tally.checksum() }
}

/**
 * Cancels the unfinished move of bases: removes what was copied. They never left their homes.
 *
 * @throws Error if one of them is not being moved there
 */
export async function cancelBaseMove(
  places: Places,
  baseIds: readonly string[],
  to: HomeClient,
): Promise<void> {
  const moves = await movesOf(places)
  requireState(
    await moves.list(),
    baseIds,
    to,
    'moving',
    (id) => `There is no unfinished move of base ${id} to ${HOMES[to].label}`,
  )
  for (const baseId of baseIds) await places[to].removeHome(baseId)
  await moves.forget(baseIds)
}

/**
 * Permanently removes the former homes of moved bases. Servers may run: none uses them.
 *
 * @throws Error if one of them was not moved there
 */
export async function removeFormerHomes(
  places: Places,
  baseIds: readonly string[],
  to: HomeClient,
): Promise<void> {
  const { from } = HOMES[to]
  const moves = await movesOf(places)
  const problem = (id: string) => `There is no former data of base ${id} in ${HOMES[from].label}`
  requireState(await moves.list(), baseIds, to, 'moved', problem)
  for (const base of await readBases(places.pg, await places.pg.kinds())) {
    if (baseIds.includes(base.id) && base.home !== to) throw new Error(problem(base.id))
  }
  for (const baseId of baseIds) await places[from].removeHome(baseId)
  await moves.forget(baseIds)
}

function requireState(
  moves: readonly BaseMove[],
  baseIds: readonly string[],
  to: HomeClient,
  state: BaseMove['state'],
  problem: (baseId: string) => string,
): void {
  for (const id of baseIds) {
    const isThere = moves.some((move) => move.baseId === id && move.to === to && move.state === state)
    if (!isThere) throw new Error(problem(id))
  }
}

/** @throws Error unless the metadata are in the database, and complete */
async function movesOf({ sqlite3: files, pg: database }: Places): Promise<BaseMoves> {
  const state = await database.state()
  if (state && !(state.role === 'target' && state.state === 'moved')) {
    throw new Error(
      state.state === 'moved'
        ? `${capitalized(database.label)} was moved to ${state.peer} already (${state.at})`
        : 'The whole installation is being moved: finish or cancel that first',
    )
  }
  if ((await database.isEmpty()) || database.baseMoves === null) {
    const where = (await files.isEmpty()) ? '' : `, but this one has everything in ${files.label}`
    throw new Error(
      `Single bases can be moved in an installation whose accounts and definitions are in PostgreSQL${where}. ` +
        '“sheaf move --to postgres” without --base moves a whole installation there',
    )
  }
  return database.baseMoves
}

/** @throws Error naming a base that does not exist */
async function chosenBases({ pg: database }: Places, baseIds: readonly string[]): Promise<MovedBase[]> {
  const all = await readBases(database, await database.kinds())
  return baseIds.map((id) => {
    const base = all.find((each) => each.id === id)
    if (!base) throw new Error(`There is no base ${id}. Its id is in the address of its pages: /nc/p…`)
    return base
  })
}

/** @throws Error if another move has begun than the one that was asked for */
function refuseOther(
  begun: NonNullable<ReturnType<typeof unfinishedBaseMove>>,
  moved: readonly MovedBase[],
  to: HomeClient,
): void {
  const asked = new Set(moved.map(({ id }) => id))
  if (begun.to === to && begun.baseIds.length === asked.size && begun.baseIds.every((id) => asked.has(id)))
    return
  throw new Error(
    `Other bases are being moved (since ${begun.at}): finish with ${moveCommandOf(begun.baseIds, begun.to)}, ` +
      'or add --cancel to it',
  )
}

/** Refuses to write over data that is where the homes would be. @throws Error that says what to do */
async function refuseFormerData(
  places: Places,
  bases: readonly MovedBase[],
  to: HomeClient,
  moves: readonly BaseMove[],
): Promise<void> {
  const target = places[to]
  // The command that removes it would also remove the files of these bases.
  if (target === places.sqlite3 && (await target.state()) !== null) {
    throw new Error(
      `${capitalized(target.label)} still has the data that was moved to PostgreSQL: ` +
        'remove it first with “sheaf move --to postgres --remove-source”',
    )
  }
  for (const { id, title } of bases) {
    if (!(await target.hasHome(id))) continue
    const isFormer = moves.some(({ baseId, state }) => baseId === id && state === 'moved')
    throw new Error(
      isFormer
        ? `The former data of base “${title}” is still there (${target.homeName(id)}): remove it first with ` +
            moveCommandOf([id], HOMES[to].from, '--remove-source')
        : `${capitalized(target.homeName(id))} exists already: base “${title}” cannot be moved there`,
    )
  }
}

import { nowIso } from '../../clock.ts'
import { createId } from '../../core/ids.ts'
import type { HomeClient } from '../sources.ts'
import {
  capitalized,
  type Installation,
  type MetadataKinds,
  type MoveState,
  moveCommandOf,
} from './installation.ts'
import { type Adapt, compare, copyHome, createTally, readBases, type Tally } from './move-home.ts'
import type { TableStore } from './store.ts'

/** What was moved. */
export interface MoveSummary {
  bases: number
  tables: number
  rows: number
  /** SHA-256 over the canonical texts of all cells, which were compared one by one. */
  checksum: string
}

/**
 * Copies an installation to an empty one of another engine and compares every cell. The source is unusable from the
 * start, so that nothing changes meanwhile; the target becomes usable in one transaction at the end. Interrupted at
 * any point, the same call goes on after the last row that was stored.
 *
 * @param tell receives a line of progress
 * @returns null if an earlier call had moved everything
 * @throws Error that says why it cannot begin, or which cell differs
 */
export async function move(
  from: Installation,
  to: Installation,
  tell: (line: string) => void,
): Promise<MoveSummary | null> {
  const finished = await begin(from, to)
  // Killed after its last step, or repeated.
  if (finished === null) return null
  const markMoved = () => from.setState({ ...finished, role: 'source', peer: to.label })
  // Interrupted after its last step; servers may use the target since.
  if ((await to.state())?.state === 'moved') {
    await markMoved()
    return null
  }
  const kinds = await kindsOf(from, to)
  const tally = createTally()
  const bases = await readBases(from, kinds)
  const check = () => Promise.all([from.requireLock(), to.requireLock()])
  for (const base of bases) await copyHome(base, from, to, tally, tell, check)
  const source = await from.metadata(kinds)
  // One transaction, which is only committed if every cell is the same.
  try {
    await to.writeMetadata(kinds, finished, async (target) => {
      await copyMetadata(source, target, to.client, tally)
      await from.requireLock()
    })
  } finally {
    await source.close()
  }
  await markMoved()
  return { bases: bases.length, tables: tally.tables, rows: tally.rows, checksum: tally.checksum() }
}

/** Only one of the two engines tells the kinds of the metadata's columns. */
const kindsOf = async (from: Installation, to: Installation): Promise<MetadataKinds | null> =>
  (await from.kinds()) ?? (await to.kinds())

/**
 * Checks that both sides may begin, or go on with, this move, and marks them.
 *
 * @returns the state of the target after the move; null if it is complete
 */
async function begin(from: Installation, to: Installation): Promise<MoveState | null> {
  const [ours, theirs] = [await from.state(), await to.state()]
  const isComplete = ours?.role === 'source' && ours.state === 'moved'
  if (isComplete && theirs?.id === ours.id && theirs.state === 'moved') return null
  if (isComplete) throw new Error(`${capitalized(from.label)} was moved to ${ours.peer} already (${ours.at})`)
  if (ours?.role === 'target' && ours.state === 'moving')
    throw new Error(`${capitalized(from.label)} is the target of an unfinished move from ${ours.peer}`)
  if (theirs?.role === 'source')
    throw new Error(
      `${capitalized(to.label)} holds the data that was moved to ${theirs.peer} (${theirs.at}): ` +
        'remove it first with “sheaf move --remove-source”',
    )
  const isResumed = ours?.role === 'source'
  if (!isResumed) await refuseMixed(from)
  if (theirs && !(isResumed && theirs.id === ours.id))
    throw new Error(`${capitalized(to.label)} is the target of another move, from ${theirs.peer}`)
  if (!theirs && !(await to.isEmpty()))
    throw new Error(`${capitalized(to.label)} has data already: move into an empty place`)
  if (!isResumed && (await from.isEmpty())) throw new Error(`${capitalized(from.label)} has no data to move`)

  const id = isResumed ? ours.id : createId('job')
  const at = nowIso()
  const finished: MoveState = { id, role: 'target', state: 'moved', peer: from.label, at }
  if (!isResumed) await from.setState({ id, role: 'source', state: 'moving', peer: to.label, at })
  if (!theirs) await to.setState({ ...finished, state: 'moving' })
  return finished
}

/** Refuses an installation that has bases of both engines, or former homes of them. @throws Error that says what to do */
async function refuseMixed(from: Installation): Promise<void> {
  const { baseMoves } = from
  if (baseMoves === null) return
  for (const { baseId, to, state } of await baseMoves.list()) {
    throw new Error(
      state === 'moving'
        ? `Base ${baseId} is being moved: run ${moveCommandOf([baseId], to)} to finish, or with --cancel`
        : `The former data of base ${baseId} is still there: remove it with ${moveCommandOf([baseId], to, '--remove-source')}`,
    )
  }
  const others = (await readBases(from, await from.kinds())).filter(({ home }) => home !== from.client)
  if (others.length === 0) return
  const command = moveCommandOf(
    others.map(({ id }) => id),
    from.client,
  )
  throw new Error(
    `The installation has bases outside of ${from.label}: move them there first with ${command}`,
  )
}

/**
 * Cancels an unfinished move: removes what was copied, and makes the source usable again.
 *
 * @throws Error if there is none
 */
export async function cancelMove(from: Installation, to: Installation): Promise<void> {
  const [ours, theirs] = [await from.state(), await to.state()]
  if (
    ours?.role !== 'source' ||
    ours.state !== 'moving' ||
    (theirs?.id === ours.id && theirs.state === 'moved')
  )
    throw new Error('There is no unfinished move to cancel')
  if (theirs?.id === ours.id) await to.remove(await baseIdsOf(from, to))
  await from.setState(null)
}

/** Permanently removes the source of a completed move. @throws Error if there is none */
export async function removeSource(from: Installation, to: Installation): Promise<void> {
  const [ours, theirs] = [await from.state(), await to.state()]
  if (ours?.role !== 'source' || ours.state !== 'moved' || theirs?.id !== ours.id || theirs.state !== 'moved')
    throw new Error(`${capitalized(from.label)} is not the source of a completed move to ${to.label}`)
  await from.remove(await baseIdsOf(from, to))
}

const baseIdsOf = async (from: Installation, to: Installation): Promise<string[]> =>
  (await readBases(from, await kindsOf(from, to))).map(({ id }) => id)

/**
 * Copies all rows of the metadata, whose homes are of the other engine then, and compares every cell.
 *
 * @param tally null: cells are not compared, as the source has no order
 */
export async function copyMetadata(
  source: TableStore,
  target: TableStore,
  client: HomeClient,
  tally: Tally | null,
): Promise<void> {
  const adapt = toClient(client)
  const found = new Map((await source.tables()).map((table) => [table.name, table]))
  // In the order of the target, whose foreign keys are checked at once.
  for (const { name } of await target.tables()) {
    const table = found.get(name)
    if (!table) continue
    for await (const batch of source.rows(table))
      await target.insert(
        table,
        batch.map((row) => adapt(table, row)),
      )
    await target.complete({ ...table, indexes: [] })
    tally?.add(await compare(source, target, table, adapt))
  }
}

/** A base's own source names the engine that its home is on. */
const toClient =
  (client: string): Adapt =>
  (table, row) => {
    if (table.name !== 'sources') return row
    const at = (name: string) => table.columns.findIndex((column) => column.name === name)
    return row[at('is_own')] === 'true' ? row.with(at('client'), client) : row
  }

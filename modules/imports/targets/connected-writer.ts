import type { UserActor } from '../../../src/core/actor.ts'
import type { Operation } from '../../../src/core/changes.ts'
import type {
  AddedLinks,
  StoppedImport,
  UpdatedRecord,
  UpdateResult,
} from '../../../src/core/csv/import-result.ts'
import { AppError } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { listImports } from '../../../src/db/change-log/entries.ts'
import { isStopping, WITHIN_TRANSACTION } from '../../../src/jobs.ts'
import { m } from '../../../src/messages.gen.ts'
import { isOutage } from '../../../src/storage-full.ts'
import { isPreview } from '../job-input.ts'
import type { ImportOutcome } from '../plan.ts'
import { writeRowRecords } from '../row-records.ts'
import { rowSkipped } from '../worker/convert.ts'
import {
  type ConnectedDeps,
  type ConnectedImport,
  isFaultOfRows,
  MAX_REFUSED,
  tooManyRefused,
} from './connected-import.ts'
import { findWritten } from './find-written.ts'
import { createRowPlanner, type LaterLinks, type PlannedRow, type RowToWrite } from './plan-rows.ts'
import {
  type CellProblem,
  type Mark,
  openStagedRows,
  RowState,
  readReason,
  type StagedRow,
  writeReason,
} from './staged-rows.ts'

/** Rows of one change, which is one transaction of the connected database. */
const CHUNK_ROWS = 1_000
const CHUNK_VALUES = 40_000

/** How long an import waits for a database that does not answer, and how often it asks again. */
const OUTAGE_PATIENCE_MS = 120_000
const OUTAGE_POLL_MS = 1_000
/** Broken connections in a row after which it ends. */
const MAX_OUTAGES = 20

/** Attempts at a chunk whose records others lock. */
const MAX_BUSY = 6
const BUSY_PAUSE_MS = 200

/** Changed records that a preview shows. */
const SAMPLES = 10

const REPORTED = 2_000

/** What has become of the rows. */
type Written = Pick<
  ImportOutcome,
  'rows' | 'rowsRefused' | 'cellsRefused' | 'changeId' | 'update' | 'links' | 'stopped' | 'created'
>

/**
 * Writes the staged rows to a table of a connected database, chunk by chunk. Before a chunk is written, its rows are marked in
 * the staging table; the log entry and their new state are one transaction of the home, which commits just after the connected
 * database. A run that finds such marks, because the process or the connection ended in between, looks in the table whether
 * the rows are there, and never writes those again of which it cannot tell.
 *
 * @throws the error that ended the import, if nothing was written before; otherwise it is told in `stopped`
 */
export async function writeConnected(deps: ConnectedDeps, work: ConnectedImport): Promise<Written> {
  const { input, update, model, home, signal } = work
  const isPreviewed = isPreview(input)
  const keepsRows = input.keepsRows === true
  const staged = openStagedRows(
    home,
    work.staging,
    input.columns.map(({ column }) => column),
  )
  const planner = await createRowPlanner(deps, work)
  const actor: UserActor = { ...input.actor, actionId: work.jobId }
  const samples: UpdatedRecord[] = []
  let refusedHere = 0
  /** The ids of the records that the database was about to commit last, by number of the row. */
  let committing = new Map((work.remembered ?? []) as [number, RecordId][])
  /** Rows of which it is unknown whether they were written. */
  let inDoubt: readonly StagedRow[] = []

  /** Writes rows as one change, with their new states. */
  async function writeOnce(rows: readonly RowToWrite[]): Promise<void> {
    const added = rows.filter(({ id }) => id === null)
    const changed = rows.flatMap(({ id, values }) => (id === null ? [] : [{ id, values }]))
    const { id: tableId } = model.table
    const operations: Operation[] = []
    if (added.length > 0)
      operations.push({ kind: 'insert', tableId, rows: added.map(({ values }) => ({ values })) })
    if (changed.length > 0) operations.push({ kind: 'update', tableId, rows: changed })
    const counts = update && { added: added.length, changed: changed.length }
    await deps.records.apply(
      actor,
      { baseId: input.baseId, operations, timeZone: input.timeZone },
      {
        entry: { kind: 'records.import', tableId, detail: { jobId: work.jobId, ...counts } },
        // Added records come first, in their order. The connected database commits them afterwards.
        finish: async (tx, _dialect, _entryId, inserted) => {
          const ids = new Map(
            added.flatMap(({ row }, at) => (inserted[at] === undefined ? [] : [[row.number, inserted[at]]])),
          )
          if (ids.size > 0) {
            await work.remember([...ids], WITHIN_TRANSACTION)
            committing = ids
          }
          await staged.markIn(
            tx,
            rows.map((row) =>
              doneMark({ ...row, id: row.id ?? ids.get(row.row.number) ?? null }, row.id === null, keepsRows),
            ),
          )
        },
      },
    )
  }

  /** Marks rows that are about to be written, and others. */
  async function begin(rows: readonly RowToWrite[], decided: readonly Mark[]): Promise<void> {
    await staged.mark([
      ...decided,
      ...rows.map(({ row, id, problems, isLater }) => ({
        number: row.number,
        state: id === null ? RowState.adding : RowState.changing,
        reason: id === null ? writeReason({ later: isLater ? { id: null } : undefined, problems }) : null,
      })),
    ])
  }

  /** Writes rows, those that the database refuses left out. */
  async function write(given: readonly RowToWrite[], decided: readonly Mark[] = []): Promise<void> {
    let rows = given
    await begin(rows, decided)
    for (let busy = 0, outages = 0; rows.length > 0; ) {
      try {
        return await writeOnce(rows)
      } catch (error) {
        if (!(error instanceof AppError) || isOutage(error)) {
          inDoubt = rows.map(({ row }) => row)
          throw error
        }
        if (isBusy(error) && busy < MAX_BUSY) {
          await Bun.sleep(BUSY_PAUSE_MS * 2 ** busy++)
        } else if (error.code === 'DATABASE_UNREACHABLE') {
          inDoubt = rows.map(({ row }) => row)
          if (++outages > MAX_OUTAGES) throw error
          await work.awayFor(() => untilReachable(error))
          const missing = new Set(await settle(inDoubt))
          rows = rows.filter(({ row }) => missing.has(row.number))
          inDoubt = []
          await begin(rows, [])
          // Other jobs may have had its place for long.
          signal.throwIfAborted()
          await work.verify()
        } else if (isFaultOfRows(error)) {
          return splitRows(rows, error)
        } else {
          // The connected database may have committed before Sheaf's own failed.
          if (error.status >= 500) inDoubt = rows.map(({ row }) => row)
          throw error
        }
      }
    }
  }

  /** Finds the rows that the database refuses: by halves, so that their number decides how many attempts it takes. */
  async function splitRows(rows: readonly RowToWrite[], error: AppError): Promise<void> {
    const [only, ...others] = rows
    if (!only) return
    if (others.length > 0) {
      // None of them is there: the attempt was rolled back.
      await staged.mark(rows.map(({ row }) => ({ number: row.number, state: null, reason: null })))
      const middle = Math.ceil(rows.length / 2)
      for (const half of [rows.slice(0, middle), rows.slice(middle)]) {
        signal.throwIfAborted()
        await write(half)
      }
      return
    }
    const problem: CellProblem = {
      column: '',
      value: '',
      reason: rowSkipped(error.message.replace(/\.$/, '')),
    }
    await staged.mark([
      { number: only.row.number, state: RowState.refused, reason: writeReason({ problems: [problem] }) },
    ])
    if (++refusedHere >= MAX_REFUSED) throw tooManyRefused(error)
  }

  /** Waits until the connected database answers. @throws its error if that takes too long */
  async function untilReachable(error: AppError): Promise<void> {
    const deadline = Date.now() + OUTAGE_PATIENCE_MS
    for (;;) {
      signal.throwIfAborted()
      if (Date.now() > deadline) throw error
      await Bun.sleep(OUTAGE_POLL_MS)
      try {
        await work.engine.all({ sql: 'select 1', params: [] })
        return
      } catch (again) {
        if (!(again instanceof AppError)) throw again
      }
    }
  }

  /**
   * Repeats work that may run twice while its connection breaks, or others lock what it needs. @throws its error if the
   * database stays away
   */
  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let outages = 0, busy = 0; ; ) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof AppError) || isOutage(error)) throw error
        if (isBusy(error) && busy < MAX_BUSY) await Bun.sleep(BUSY_PAUSE_MS * 2 ** busy++)
        else if (error.code === 'DATABASE_UNREACHABLE' && outages++ < MAX_OUTAGES)
          await work.awayFor(() => untilReachable(error))
        else throw error
      }
    }
  }

  /**
   * Finds out which of the rows that were being written are in the table.
   *
   * @returns the numbers of those that are not, and are to be written
   */
  async function settle(rows: readonly StagedRow[]): Promise<number[]> {
    const marked = await staged.inStates([RowState.adding, RowState.changing], 0, Number.MAX_SAFE_INTEGER)
    const wanted = new Set(rows.map(({ number }) => number))
    const own = marked.filter(({ number }) => wanted.has(number))
    const marks = await patiently(() => findWritten(deps, work, planner, own, committing))
    await staged.mark(marks)
    return marks.flatMap(({ number, state }) => (state === null ? number : []))
  }

  /** Writes a chunk: first the rows that need no other, then those that need them. @returns how many still wait */
  async function writeChunk(rows: readonly StagedRow[]): Promise<number> {
    const waiting = new Map<number, PlannedRow>()
    for (let next = rows; next.length > 0; ) {
      signal.throwIfAborted()
      const planned = await patiently(() => planner.plan(next))
      const written = await writePlanned(planned)
      for (const one of planned) {
        if (isWaiting(one)) waiting.set(one.row.number, one)
        else waiting.delete(one.row.number)
      }
      next = written.length === 0 ? [] : planner.rowsAwaiting([...waiting.values()], written)
    }
    return waiting.size
  }

  async function writePlanned(planned: readonly PlannedRow[]): Promise<RowToWrite[]> {
    const decided = planned.flatMap((one): Mark[] => (one.kind === 'decided' ? [decidedMark(one)] : []))
    const toWrite = planned.filter((one) => one.kind === 'write')
    if (!isPreviewed) {
      await write(toWrite, decided)
      return toWrite
    }
    const changes = toWrite.filter(({ id }) => id !== null).slice(0, SAMPLES - samples.length)
    samples.push(...changes.map((change) => planner.sampleOf(change.row, change)))
    await staged.mark([...decided, ...toWrite.map((row) => doneMark(row, row.id === null, false))])
    return toWrite
  }

  async function writeAll(): Promise<void> {
    const keys = planner.keys.map(({ column }) => column.column)
    if (keys.length > 0) await staged.markKeys(keys)
    const interrupted = await staged.inStates(
      [RowState.adding, RowState.changing],
      0,
      Number.MAX_SAFE_INTEGER,
    )
    if (interrupted.length > 0) {
      inDoubt = interrupted
      await settle(interrupted)
      inDoubt = []
    }
    const size = Math.max(50, Math.min(CHUNK_ROWS, Math.floor(CHUNK_VALUES / input.columns.length)))
    const counts = await staged.counts()
    const total = [...counts.values()].reduce((sum, n) => sum + n, 0)
    let done = total - (counts.get(null) ?? 0) - (counts.get(RowState.waiting) ?? 0)
    let last = 0
    for (;;) {
      signal.throwIfAborted()
      await work.verify()
      const rows = await staged.next(last, size)
      if (rows.length === 0) break
      done += rows.length - (await writeChunk(rows))
      last = rows.at(-1)?.number ?? last
      work.progress(done, total)
    }
    await writeWaiting(size, (rows) => {
      done += rows
      work.progress(done, total)
    })
    await writeLater(size)
  }

  /**
   * Writes rows that need records which other rows add: again and again, until all are written or none can be. Passes go up and
   * down in turn, so that it takes as few for rows that stand before the ones they need as for the others.
   */
  async function writeWaiting(size: number, onDecided: (rows: number) => void): Promise<void> {
    const pass = async (
      direction: 'up' | 'down',
      decide: (rows: readonly StagedRow[]) => Promise<number>,
    ) => {
      const { decided, left } = await eachWaiting(size, direction, decide)
      if (decided > 0) onDecided(decided)
      return { isEnd: left === 0, isStuck: decided === 0 }
    }
    for (let direction: 'up' | 'down' = 'down'; ; direction = direction === 'up' ? 'down' : 'up') {
      const { isEnd, isStuck } = await pass(direction, writeChunk)
      if (isEnd) return
      // Rows that are left then need a record that others have just added.
      if (isStuck && (await pass('up', refuseChunk)).isEnd) return
    }
  }

  /** Refuses waiting rows, with the reason of each. @returns how many still wait */
  async function refuseChunk(rows: readonly StagedRow[]): Promise<number> {
    const planned = await patiently(() => planner.refuseWaiting(rows))
    await writePlanned(planned)
    return planned.filter(isWaiting).length
  }

  /**
   * Passes the waiting rows on, chunk by chunk.
   *
   * @param decide answers how many of a chunk still wait
   */
  async function eachWaiting(
    size: number,
    direction: 'up' | 'down',
    decide: (rows: readonly StagedRow[]) => Promise<number>,
  ): Promise<{ decided: number; left: number }> {
    let [decided, left] = [0, 0]
    for (let from: number | null = null; ; ) {
      signal.throwIfAborted()
      await work.verify()
      const rows = await staged.waiting(from, size, direction)
      if (rows.length === 0) return { decided, left }
      const waiting = await decide(rows)
      decided += rows.length - waiting
      left += waiting
      from = rows.at(-1)?.number ?? from
    }
  }

  /** Writes the links between rows of the file, once all rows are there. */
  async function writeLater(size: number): Promise<void> {
    for (let last = 0; ; ) {
      signal.throwIfAborted()
      await work.verify()
      const rows = await staged.withLaterLinks(last, size)
      if (rows.length === 0) return
      await writeLaterChunk(await patiently(() => planner.planLater(rows)))
      last = rows.at(-1)?.number ?? last
    }
  }

  /** Writes links, those left out that the database refuses. Writing them again does nothing. */
  async function writeLaterChunk(links: readonly LaterLinks[]): Promise<void> {
    const marks = links.map((link) => laterMark(link))
    const changed = links.flatMap(({ id, values }) =>
      id !== null && Object.keys(values).length > 0 ? [{ id, values }] : [],
    )
    if (isPreviewed || changed.length === 0) return staged.mark(marks)
    const { id: tableId } = model.table
    const counts = update && { added: 0, changed: changed.length }
    try {
      await patiently(() =>
        deps.records.apply(
          actor,
          {
            baseId: input.baseId,
            operations: [{ kind: 'update', tableId, rows: changed }],
            timeZone: input.timeZone,
          },
          {
            entry: { kind: 'records.import', tableId, detail: { jobId: work.jobId, ...counts } },
            finish: (tx) => staged.markIn(tx, marks),
          },
        ),
      )
    } catch (error) {
      if (!(error instanceof AppError) || !isFaultOfRows(error)) throw error
      const [only, ...others] = links
      if (!only) return
      if (others.length === 0) {
        const problem = { column: '', value: '', reason: error.message }
        return staged.mark([laterMark({ ...only, values: {}, problems: [...only.problems, problem] })])
      }
      const middle = Math.ceil(links.length / 2)
      for (const half of [links.slice(0, middle), links.slice(middle)]) {
        signal.throwIfAborted()
        await writeLaterChunk(half)
      }
    }
  }

  /** @returns why the import has ended before its last row; null if it has not */
  async function writeUntilStopped(): Promise<{ error: unknown } | null> {
    try {
      await writeAll()
      return null
    } catch (error) {
      // An outage of Sheaf's own database: the job goes on once it is back.
      if (isStopping(signal) || isOutage(error)) throw error
      if (!signal.aborted && !(error instanceof AppError))
        deps.kernel.log.error('an import into a connected database failed', error, { jobId: work.jobId })
      return { error }
    }
  }

  /** Keeps the records of the written rows for the imports of lists that belong to them. */
  async function keepRows(): Promise<void> {
    const read = async (after: number) => {
      for (let last = after; ; ) {
        const rows = await staged.written(last, REPORTED)
        const known = rows.flatMap(({ number, reason }) => {
          const { id } = readReason(reason)
          return id === undefined ? [] : [{ row: number, id }]
        })
        if (known.length > 0 || rows.length === 0) return known
        last = rows.at(-1)?.number ?? last
      }
    }
    await writeRowRecords(work.rowsPath(work.jobId), read)
  }

  const end = await writeUntilStopped()
  if (end) await resetUnwritten()
  const counts = await staged.counts()
  const of = (...states: (RowState | null)[]) =>
    states.reduce<number>((sum, state) => sum + (counts.get(state) ?? 0), 0)
  const touched = of(RowState.added, RowState.changed, RowState.uncertain)
  const created = planner.created()
  planner.close()
  if (end && ((touched === 0 && !work.isNewTable) || isPreviewed)) throw end.error
  const { cells: cellsRefused, byColumn } = await reportRows()
  if (keepsRows) await keepRows()
  const isCounted = update !== undefined || isPreviewed
  const result: UpdateResult | undefined = isCounted
    ? {
        isPreview: isPreviewed,
        added: of(RowState.added),
        changed: of(RowState.changed),
        unchanged: of(RowState.unchanged),
        skipped: of(RowState.skipped),
        withoutKey: of(RowState.withoutKey),
        repeated: of(RowState.repeated),
        ambiguous: of(RowState.ambiguous),
        unknown: of(RowState.unknown),
        changes: isPreviewed ? samples : [],
      }
    : undefined
  return {
    rows: of(RowState.added),
    rowsRefused: of(
      RowState.withoutKey,
      RowState.repeated,
      RowState.ambiguous,
      RowState.unknown,
      RowState.refused,
      RowState.uncertain,
    ),
    cellsRefused,
    created,
    changeId: isPreviewed ? null : await newestEntry(),
    update: result,
    links: await addedLinks(byColumn),
    stopped: end ? await stoppedBy(end.error, of(null)) : undefined,
  }

  /** Rows that were about to be written when the import ended go back; those in doubt are uncertain. */
  async function resetUnwritten(): Promise<void> {
    await staged.resetWaiting()
    const marked = await staged.inStates([RowState.adding, RowState.changing], 0, Number.MAX_SAFE_INTEGER)
    const doubtful = new Set(inDoubt.map(({ number }) => number))
    await staged.mark(
      marked.map(({ number }) => ({
        number,
        state: doubtful.has(number) ? RowState.uncertain : null,
        reason: null,
      })),
    )
  }

  async function stoppedBy(error: unknown, rows: number): Promise<StoppedImport> {
    const [first] = await staged.next(0, 1)
    if (signal.aborted) return { row: first?.number ?? null, rows, reason: null }
    const reason = error instanceof AppError ? error.message : m.request_error_unexpected()
    return { row: first?.number ?? null, rows, reason }
  }

  /** The links of the written rows to the records of another import, those left out that found none. */
  async function addedLinks(refused: ReadonlyMap<string, number>): Promise<AddedLinks[]> {
    const added: AddedLinks[] = []
    for (const { fieldId, title, rowsOf } of input.columns) {
      const link = rowsOf ? linkOf(model.field(fieldId) ?? model.primaryKey) : null
      if (!link) continue
      const { table } = await deps.schema.load(link.relatedTableId)
      const count = of(RowState.added) - (refused.get(title) ?? 0)
      added.push({ field: title, related: table.title, count })
    }
    return added
  }

  /** The newest entry of this import, whose undo takes back all of them; null if nothing was written. */
  async function newestEntry(): Promise<number | null> {
    const entries = await listImports(home, model.table.id)
    const own = entries.find(({ detail }) => (detail as { jobId?: string } | null)?.jobId === work.jobId)
    return own?.id ?? null
  }

  /** Adds the rows with problems to the report. @returns the number of refused cells in rows that were written */
  async function reportRows(): Promise<{ cells: number; byColumn: ReadonlyMap<string, number> }> {
    let cells = 0
    const byColumn = new Map<string, number>()
    let last = 0
    for (;;) {
      const rows = await staged.withProblems(last, REPORTED)
      for (const row of rows) {
        const problems = planner.problemsOf(row)
        const isWritten = row.state === RowState.added || row.state === RowState.changed
        if (isWritten) cells += problems.length
        if (isWritten)
          for (const { column } of problems) byColumn.set(column, (byColumn.get(column) ?? 0) + 1)
        for (const problem of problems) work.report.add({ row: row.number, ...problem })
      }
      if (rows.length < REPORTED) return { cells, byColumn }
      last = rows.at(-1)?.number ?? last
    }
  }
}

const isWaiting = (row: PlannedRow): boolean => row.kind === 'decided' && row.state === RowState.waiting

const doneMark = ({ row, id, problems, isLater }: RowToWrite, isNew: boolean, keepsRows: boolean): Mark => ({
  number: row.number,
  state: isNew ? RowState.added : RowState.changed,
  reason: writeReason({
    later: isLater ? { id } : undefined,
    id: keepsRows ? (id ?? undefined) : undefined,
    problems,
  }),
})

const decidedMark = ({ row, state, problems, later }: Extract<PlannedRow, { kind: 'decided' }>): Mark => ({
  number: row.number,
  state,
  reason: writeReason({ later, problems }),
})

/** The state of a row whose links are written, with its earlier problems. */
const laterMark = ({ row, values, problems }: LaterLinks): Mark => ({
  number: row.number,
  state: row.state === RowState.unchanged && Object.keys(values).length > 0 ? RowState.changed : row.state,
  reason: writeReason({
    id: readReason(row.reason).id,
    problems: [...(readReason(row.reason).problems ?? []), ...problems],
  }),
})

/** True if others hold what the change needs; nothing of it was written. */
const isBusy = ({ code, details }: AppError): boolean =>
  code === 'BASE_BUSY' || (code === 'CONFLICT' && details?.failure === 'busy')

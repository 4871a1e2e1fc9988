import type { UserActor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { holdsFiles, isForeignKey } from '../../../src/core/fields/traits.ts'
import { createId } from '../../../src/core/ids.ts'
import { hasChangesAfter } from '../../../src/db/change-log/entries.ts'
import { removeForeignEntries } from '../../../src/db/change-log/foreign.ts'
import { forgetParts } from '../../../src/db/change-log/removal.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { columnKindOf } from '../../../src/db/move/store.ts'
import { createMutex } from '../../../src/db/mutex.ts'
import { removePlaces } from '../../../src/db/view-places.ts'
import type { Dialect, Engine, Statement } from '../../../src/dialects/dialect.ts'
import type { JobContext, JobKind } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableMove } from '../../../src/table-moves.ts'
import { withThread } from '../../../src/thread-calls.ts'
import { tidyUp } from '../../../src/tidy-up.ts'
import type { RecordsService } from '../../records/index.ts'
import {
  columnOf,
  fieldWithNewIds,
  physicalName,
  type SchemaService,
  StagedNameTaken,
  type StagedTable,
  type StoredField,
  type TableModel,
} from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { COPIED_COMMENTS, COPIED_HOOKS, rightToCopy } from './copy-rows.ts'
import { type FieldEffects, planFields, tablesReadBy, valueType } from './plan-fields.ts'
import type {
  Filled,
  FilledColumn,
  FurtherFill,
  TableFill,
  TablesMain,
  TablesThread,
} from './tables-worker.ts'

export const TABLES_TO_BASE_JOB = 'copy-tables-to-base'

export interface TablesToBaseInput {
  owner: UserActor
  /** Of the first table. */
  title: string
  /** The base they go to. */
  baseId: string
  fromBaseId: string
  /** In the order in which they appear there. */
  tables: { id: string; newId: string; title: string }[]
  withData: boolean
  withViews: boolean
  withComments: boolean
  /** The ids of webhooks that are copied, each with that of its copy. Those of a move are found when it is published. */
  hookIds: [string, string][]
  /** Of a move: the webhooks of the tables move as well. */
  movesHooks: boolean
  withHistory: boolean
  /** Moves the originals to the trash. */
  isMove: boolean
}

/** The result of the job. */
export interface TablesCopied {
  /** The first table. */
  id: string
  baseId: string
  rows: number
  cellsLeftOut: number
}

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'log' | 'registry' | 'meta' | 'tableMoves' | 'config'>
  schema: Pick<
    SchemaService,
    'load' | 'openTable' | 'tableOfField' | 'planStagedIndexes' | 'publishTables' | 'hasTable'
  >
  views: Pick<ViewsService, 'tableViews'>
  records: Pick<RecordsService, 'exports' | 'attachments' | 'feed'>
}

/** The copy starts over if someone changes the definitions of the tables in the meantime, or takes the name of one. */
const MAX_TRIES = 3

/** How often a move may keep the writers of the source waiting in vain, each time for `config.moveWaitMs`. */
const MAX_HOLDS = 5

/** A round that takes less than this part of the time in which writers may wait is short enough to be repeated while they do. */
const SHORT_ROUND = 0.2

/** Rounds go on while each takes less than this part of the time of the one before. */
const SHRINKS = 0.7

/** Once writers have waited in vain, they run for a fifth of the time until the rounds have caught up. */
const BRAKED_MS = 200
const FREE_MS = 50

/** One server at a time publishes a move, as it holds the write leases of two bases. */
const PUBLISHING = 'publishing of moved tables'
const CLAIM_AGAIN_MS = 100

/**
 * Copies tables of bases' homes to another base, or moves them, with the links between them. Their rows are copied as they
 * are stored into staging tables, whichever databases the two homes are in. All tables appear in one transaction of the
 * metadata, in which those of a move go to the trash, so that a killed process leaves each in exactly one base.
 */
export function createTablesToBaseJob(deps: Deps): JobKind<TablesToBaseInput> {
  const { kernel, schema, records } = deps
  const inTurn = createMutex()

  /** What one attempt has copied to the staging tables. */
  interface Prepared {
    plan: CopyPlan
    filled: Filled | null
  }

  /** A copy whose changes are followed until it is published. */
  interface Followed {
    input: TablesToBaseInput
    prepared: Prepared
    /**
     * Copies what has changed since.
     *
     * @param compareMs as for the thread's `follow`
     * @throws ChangedMeanwhile if something else than records has changed
     */
    follow(check: () => void, compareMs: number): Promise<void>
    /** The home that the tables leave. */
    source: Engine
    signal: AbortSignal
  }

  /** @returns null if the definitions of the tables have changed meanwhile */
  async function copyOnce(input: TablesToBaseInput, context: JobContext): Promise<TablesCopied | null> {
    const { baseId, fromBaseId, isMove } = input
    const [source, target] = await Promise.all([fromBaseId, baseId].map((id) => kernel.sources.engine(id)))
    if (!source || !target) throw new Error('A base has no home')
    const hookIds = new Map([...input.hookIds, ...(await newHooks(input, { hookIds: new Map() }))])
    const plan = await planCopy(deps, input, { staging: stagingOf(context.jobId), hookIds })
    await createStaging(target, plan)
    const prepared: Prepared = { plan, filled: null }
    try {
      if (!input.withData) return await publish(input, context, prepared, { source, target })
      return await withFill(input, context, plan, { source, target }, async ({ fill, index, follow }) => {
        const { tookMs } = await timed(async () => {
          prepared.filled = await fill()
          await buildIndexes(input, plan, index)
        })
        if (!isMove) {
          await copyComments(input, plan, target, () => context.signal.throwIfAborted())
          return publish(input, context, prepared, { source, target })
        }
        const followed: Followed = {
          input,
          prepared,
          source,
          signal: context.signal,
          async follow(check, compareMs) {
            prepared.filled = await follow(check, compareMs)
            if (prepared.filled === null) throw new ChangedMeanwhile()
          },
        }
        return publishFollowed(followed, tookMs, (prepare) =>
          publish(input, context, prepared, { source, target, prepare }),
        )
      })
    } catch (error) {
      if (error instanceof ChangedMeanwhile || error instanceof StagedNameTaken) return null
      throw error
    }
  }

  /**
   * Builds the indexes of the staging tables, which takes long, before writers have to wait.
   *
   * @throws StagedNameTaken if a name has been taken meanwhile
   */
  async function buildIndexes(
    { baseId }: TablesToBaseInput,
    { tables }: CopyPlan,
    index: RemoteIndex,
  ): Promise<void> {
    const staged = tables.map((each) => each.staged)
    const planned = await schema.planStagedIndexes(baseId, staged)
    try {
      await index(
        staged.map(({ staging }, at) => ({ table: staging, statements: planned[at]?.statements ?? [] })),
      )
    } catch (error) {
      const now = await schema.planStagedIndexes(baseId, staged)
      const isTaken = now.some(({ tableName }, at) => tableName !== planned[at]?.tableName)
      throw isTaken ? new StagedNameTaken() : error
    }
    for (const [at, each] of staged.entries()) each.indexedAs = planned[at]?.tableName ?? null
  }

  /**
   * Follows the changes of the tables in rounds: each copies what has changed during the one before, so they get shorter while
   * records are copied faster than they are written. The last round keeps the writers waiting and ends with the publication.
   * If they would wait too long, they go on more slowly, so that the next rounds catch up.
   * Values that depend on other tables are compared before the rounds, and in each that is short with it: those of a large
   * table are at most as old as these rounds.
   *
   * @param tookMs how long the copy has taken
   * @param publishAfter publishes after a call that runs while no other writer of the source can
   * @throws CONFLICT if the last round takes longer than writers may wait, several times
   */
  async function publishFollowed<T>(
    { input, prepared, follow, source, signal }: Followed,
    tookMs: number,
    publishAfter: (prepare: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const waitMs = deps.kernel.config.moveWaitMs
    /** Webhooks are called for all changes before the move. */
    const callHooks = async (check: () => void) => {
      if (!input.movesHooks) return
      await records.feed.settled(input.fromBaseId, check)
      const tableIds = input.tables.map(({ id }) => id)
      await kernel.registry.get(COPIED_HOOKS).catchUp(tableIds, required(prepared.filled).lastChange, check)
    }
    const checkSignal = () => signal.throwIfAborted()
    const shortMs = waitMs * SHORT_ROUND
    let roundMs = tookMs
    for (let hold = 1; ; hold++) {
      const round = async (compareMs: number) => {
        const work = () => follow(checkSignal, compareMs)
        roundMs = (await timed(() => (hold > 1 ? whileBraked(source, work) : work()))).tookMs
      }
      if (hold > 1 || roundMs > shortMs) await round(Number.POSITIVE_INFINITY)
      let formerMs = Number.POSITIVE_INFINITY
      while (roundMs > shortMs && roundMs < formerMs * SHRINKS) {
        formerMs = roundMs
        await round(shortMs)
      }
      await callHooks(checkSignal)
      // The error passes through the thread, which keeps its code and message only.
      let isTooLong = false
      try {
        return await publishAfter(async () => {
          const deadline = performance.now() + waitMs
          const check = () => {
            checkSignal()
            if (performance.now() <= deadline) return
            isTooLong = true
            throw changed(input)
          }
          await follow(check, shortMs)
          await callHooks(check)
          check()
        })
      } catch (error) {
        if (!isTooLong || hold === MAX_HOLDS) throw error
      }
    }
  }

  /** @param how `prepare`: called first, while no other writer of the source can run */
  async function publish(
    input: TablesToBaseInput,
    { signal }: Pick<JobContext, 'signal'>,
    prepared: Prepared,
    { source, target, prepare }: { source: Engine; target: Engine; prepare?: () => Promise<void> },
  ): Promise<TablesCopied> {
    const { baseId, fromBaseId, owner, isMove } = input
    const { plan } = prepared
    const replaces = { baseId: fromBaseId, tables: newIdsOf(input), prepare }
    const publishTables = () =>
      schema.publishTables(
        owner,
        { baseId, replaces: isMove ? replaces : null },
        async () => {
          const { filled } = prepared
          if (!(await isCurrent(plan, isMove ? { source, filled } : null))) throw new ChangedMeanwhile()
          // Rights in the base of the originals may have been taken away since the copy was asked for.
          const right = rightToCopy({ withHooks: input.hookIds.length > 0 })
          for (const { id } of input.tables) await schema.openTable(owner, right, id)
          return {
            tables: plan.tables.map((each, at) => ({ ...each.staged, rows: filled?.rows[at] ?? 0 })),
            views: { copied: plan.views, ids: plan.ids },
            script: numbering(target, plan, filled),
            also: await alsoOf(input, plan),
          }
        },
        { signal },
      )
    const tables = isMove ? await exclusively(publishTables) : await publishTables()
    for (const part of partsOf(input)) part.moved?.(moveOf(input, plan))
    if (input.movesHooks) await completeHooks(input, plan)
    return {
      id: tables[0]?.id ?? '',
      baseId,
      rows: plan.tables.reduce(
        (sum, { staged }, at) => sum + (staged.table.isJunction ? 0 : (prepared.filled?.rows[at] ?? 0)),
        0,
      ),
      cellsLeftOut: 0,
    }
  }

  /** Runs `work` while no other move is published, by any server: two that wait for each other's bases would never end. */
  function exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { claims } = kernel.meta.cluster
    return inTurn(async () => {
      while (!(await claims.take(PUBLISHING))) await Bun.sleep(CLAIM_AGAIN_MS)
      try {
        return await work()
      } finally {
        await claims.release(PUBLISHING)
      }
    })
  }

  /** True if nothing has changed since the tables were read. */
  async function isCurrent(
    { models }: CopyPlan,
    move: { source: Engine; filled: Filled | null } | null,
  ): Promise<boolean> {
    for (const model of models) {
      const now = await schema.load(model.table.id)
      if (now.table.version !== model.table.version) return false
    }
    if (!move?.filled) return true
    const tableIds = models.map(({ table }) => table.id)
    return !(await hasChangesAfter(move.source, tableIds, move.filled.lastChange))
  }

  async function createStaging(target: Engine, { tables }: CopyPlan): Promise<void> {
    const { dialect } = target
    await target.write(async (tx) => {
      for (const { staged } of tables)
        for (const statement of dialect.createTable(staged.staging, staged.fields.flatMap(columnOf)))
          await tx.run(statement)
    })
  }

  /** Runs `work` with a thread that fills the staging tables. */
  async function withFill<T>(
    { owner, baseId, tables: moved }: TablesToBaseInput,
    { signal, report }: Pick<JobContext, 'report' | 'signal'>,
    { tables, places, history }: CopyPlan,
    { source, target }: { source: Engine; target: Engine },
    work: (calls: {
      fill(): Promise<Filled>
      index: RemoteIndex
      /** Copies what has changed since. Null if something else than records has changed. */
      follow(check: () => void, compareMs: number): Promise<Filled | null>
    }) => Promise<T>,
  ): Promise<T> {
    const pages = new Map<number, AsyncGenerator<Uint8Array, void, undefined>>()
    const lease = createLease(target)
    const newIds = moved.map(({ newId }) => newId)
    let check = () => signal.throwIfAborted()
    const main: TablesMain = {
      async lease() {
        check()
        await lease.take()
      },
      release: lease.giveBack,
      values: async (tableAt, { isFirst }) => {
        if (isFirst) {
          await pages.get(tableAt)?.return(undefined)
          const table = tables[tableAt]
          if (table) pages.set(tableAt, valuePages(owner, table))
        }
        const next = await pages.get(tableAt)?.next()
        return next && !next.done ? next.value : null
      },
      valuesOf: async (tableAt, recordIds) => {
        const table = tables[tableAt]
        return table ? Array.fromAsync(valuePages(owner, table, recordIds)) : []
      },
      forgetPlaces: () => removePlaces(target, newIds),
      forgetHistory: (after) => removeForeignEntries(target, [...(history?.tables.values() ?? [])], after),
      files: async (paths) => {
        await records.attachments.claimKnown(owner, baseId, paths)
      },
      progress: async (done) => {
        check()
        report({ done, total: null, unit: 'rows' })
      },
    }
    try {
      return await withThread<TablesThread, T>('modules/imports/copies/tables-worker.ts', main, (thread) =>
        work({
          fill: () =>
            thread.fill({
              from: source.location,
              to: target.location,
              tables: tables.map(({ fill }) => fill),
              places,
              history,
            }),
          index: thread.index,
          follow: async (checkRound, compareMs) => {
            check = checkRound
            return thread.follow(compareMs)
          },
        }),
      )
    } finally {
      await lease.giveBack()
      for (const each of pages.values()) await each.return(undefined)
    }
  }

  /** What the fields of a table become that are copied as their values, by ascending record id. @param recordIds only these records */
  async function* valuePages(
    actor: UserActor,
    { model, valueIds }: PlannedTable,
    recordIds?: number[],
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (valueIds.length === 0) return
    const key = model.primaryKey.id
    const { pages } = await records.exports.contentOf(actor, {
      query: {
        tableId: model.table.id,
        sorts: [{ fieldId: key, direction: 'asc' }],
        timeZone: 'UTC',
        ...(recordIds && { recordIds }),
      },
      fieldIds: [key, ...valueIds],
    })
    for await (const { pieces } of pages({ name: 'csv', isGuarded: false, delimiter: ',' }))
      for (const { bytes } of pieces) yield bytes
  }

  /** The statements that let the copies number their records as the originals would. */
  const numbering = ({ dialect }: Engine, { tables }: CopyPlan, filled: Filled | null): Statement[] =>
    tables.flatMap(({ staged: { staging } }, at) => {
      const last = filled?.lastIds[at]
      return last == null || last === '0' ? [] : dialect.numberAfter(staging, Number(last))
    })

  /** The tables whose comments go along, each with the ids of its copy. */
  const commented = ({ baseId, withComments }: TablesToBaseInput, { tables, ids }: CopyPlan) =>
    tables
      .filter(({ staged }) => withComments && !staged.table.isJunction)
      .map((table) => ({ table, to: { baseId, tableId: table.staged.table.id, ids } }))

  /** Copies the comments, which have no effect before their tables exist. */
  async function copyComments(
    input: TablesToBaseInput,
    plan: CopyPlan,
    target: Engine,
    check: () => void,
  ): Promise<void> {
    const { copy } = kernel.registry.get(COPIED_COMMENTS)
    for (const { table, to } of commented(input, plan))
      await copy(table.model.table.id, { ...to, has: hasIn(target, table) }, check)
  }

  /** What other modules keep of the tables, as it is now. */
  async function alsoOf(input: TablesToBaseInput, plan: CopyPlan): Promise<MetaStatement[]> {
    const { fromBaseId, owner, isMove } = input
    const statements: MetaStatement[] = []
    if (isMove) {
      const { move } = kernel.registry.get(COPIED_COMMENTS)
      for (const { table, to } of commented(input, plan))
        statements.push(...(await move({ baseId: fromBaseId, tableId: table.model.table.id }, to)))
    }
    if (input.hookIds.length > 0 || input.movesHooks) {
      for (const [id, newId] of await newHooks(input, plan)) {
        plan.hookIds.set(id, newId)
        plan.ids.set(id, newId)
      }
      statements.push(
        ...(await kernel.registry.get(COPIED_HOOKS).insert(fromBaseId, plan.ids, owner.id, { isMove })),
      )
    }
    for (const part of partsOf(input)) statements.push(...(await part.statements(moveOf(input, plan))))
    return statements
  }

  const partsOf = ({ isMove }: TablesToBaseInput) =>
    kernel.tableMoves.filter((part) => isMove || part.isCopied)

  /** The webhooks of moved tables that are not planned yet, each with a new id. */
  async function newHooks(
    { movesHooks, tables }: TablesToBaseInput,
    { hookIds }: Pick<CopyPlan, 'hookIds'>,
  ): Promise<Map<string, string>> {
    const { idsOfTable } = kernel.registry.get(COPIED_HOOKS)
    const found = movesHooks ? await Promise.all(tables.map(({ id }) => idsOfTable(id))) : []
    const fresh = found.flat().filter((id) => !hookIds.has(id))
    return new Map(fresh.map((id) => [id, createId('hook')]))
  }

  /** Moves webhooks that were created while the move was published, and lets all of them begin. */
  async function completeHooks(input: TablesToBaseInput, plan: CopyPlan): Promise<void> {
    const { fromBaseId, baseId, owner } = input
    try {
      const late = await newHooks(input, plan)
      if (late.size > 0) {
        const ids = new Map([...plan.ids].filter(([id]) => !plan.hookIds.has(id)))
        for (const [id, newId] of late) ids.set(id, newId)
        const hooks = kernel.registry.get(COPIED_HOOKS)
        await kernel.meta.atomically(await hooks.insert(fromBaseId, ids, owner.id, { isMove: true }))
      }
      await announceHooks(input)
    } catch (error) {
      kernel.log.error('webhooks of moved tables could not be told', error, { baseId })
    }
  }

  const announceHooks = (input: TablesToBaseInput): Promise<void> =>
    kernel.registry.get(COPIED_HOOKS).announceMoved(newIdsOf(input))

  return {
    async run(input, context) {
      context.report({ done: 0, total: null, unit: 'rows' })
      for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
        try {
          const copied = await copyOnce(input, context)
          if (copied) return copied
        } finally {
          await abandon(input, context.jobId)
        }
      }
      throw changed(input)
    },
    async recover(input, { id }) {
      const { baseId, tables, isMove } = input
      if (!(await kernel.sources.exists(baseId))) return null
      const engine = await kernel.sources.engine(baseId)
      await abandon(input, id)
      const [first] = tables
      const newIds = tables.map(({ newId }) => newId)
      if (!first || !(await schema.hasTable(first.newId))) {
        // The home may have got as far as the log, and the metadata not.
        await forgetParts(engine, { tableIds: newIds, fieldIds: [] })
        return null
      }
      if (isMove) await announceHooks(input)
      return { result: { id: first.newId, baseId, rows: 0, cellsLeftOut: 0 } satisfies TablesCopied }
    },
  }

  /** Removes the staging tables, and the positions, comments and history of tables that have not appeared. */
  async function abandon({ baseId, tables }: TablesToBaseInput, jobId: string): Promise<void> {
    const [first] = tables
    await tidyUp(
      async () => {
        await dropStaging(baseId, stagingOf(jobId))
        if (!first || (await schema.hasTable(first.newId))) return
        const engine = await kernel.sources.engine(baseId)
        const newIds = tables.map(({ newId }) => newId)
        const { removeCopies } = kernel.registry.get(COPIED_COMMENTS)
        for (const newId of newIds) await removeCopies(newId)
        await removePlaces(engine, newIds)
        await removeForeignEntries(engine, newIds)
      },
      (error) =>
        kernel.log.error('a copy of tables could not be tidied up', error, { baseId, tables: tables.length }),
    )
  }

  async function dropStaging(baseId: string, prefix: string): Promise<void> {
    const engine = await kernel.sources.engine(baseId)
    const { dialect } = engine
    const names: string[] = []
    // Junction tables have been planned with the run.
    for (let at = 0; (await engine.all(dialect.listColumns(`${prefix}${at}`))).length > 0; at++)
      names.push(`${prefix}${at}`)
    // The first goes last, so that a repeated removal finds the others.
    for (const name of names.toReversed()) await engine.writeScript(dialect.dropTable(name))
  }
}

/** Someone has changed the definitions of the tables since they were read. */
class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile'
}

/** Runs `work` while the writers of a home have turns between short waits. */
async function whileBraked<T>(home: Engine, work: () => Promise<T>): Promise<T> {
  let isOver = false
  const brake = async () => {
    while (!isOver) {
      await home.exclusively(() => Bun.sleep(BRAKED_MS))
      await Bun.sleep(FREE_MS)
    }
  }
  const [result] = await Promise.all([
    work().finally(() => {
      isOver = true
    }),
    brake(),
  ])
  return result
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const startedAt = performance.now()
  const result = await work()
  return { result, tookMs: performance.now() - startedAt }
}

const changed = ({ tables, isMove }: TablesToBaseInput): AppError => {
  const table = tables.map(({ title }) => title).join(', ')
  return new AppError(
    'CONFLICT',
    isMove ? m.copies_error_table_changed({ table }) : m.copies_error_copied_table_changed({ table }),
  )
}

function required<T>(value: T | null): T {
  if (value === null) throw new Error('Nothing was copied')
  return value
}

const newIdsOf = ({ tables }: TablesToBaseInput): Map<string, string> =>
  new Map(tables.map(({ id, newId }) => [id, newId]))

const stagingOf = (jobId: string): string => `sheaf_import_${jobId}_`

/** The write lease of a home, lent to a thread for one chunk at a time. */
function createLease(engine: Engine) {
  let held: { done: () => void; ended: Promise<void> } | null = null
  return {
    async take(): Promise<void> {
      const granted = Promise.withResolvers<void>()
      const done = Promise.withResolvers<void>()
      const ended = engine.exclusively(async () => {
        granted.resolve()
        await done.promise
      })
      held = { done: done.resolve, ended }
      ended.catch(granted.reject)
      await granted.promise
    },
    async giveBack(): Promise<void> {
      const last = held
      held = null
      last?.done()
      await last?.ended
    },
  }
}

/** A table that is copied, with the copy in its staging table. */
interface PlannedTable {
  model: TableModel
  staged: StagedTable
  fill: TableFill
  /** The fields that are copied as their values, in the order of the lines that the thread asks for. */
  valueIds: string[]
}

type RemoteIndex = (indexes: { table: string; statements: Statement[] }[]) => Promise<void>

interface CopyPlan {
  /** The originals as they were read. */
  models: TableModel[]
  tables: PlannedTable[]
  views: Awaited<ReturnType<ViewsService['tableViews']['forCopies']>>
  /** New ids of tables, fields, views, webhooks and the base, by the old ones. */
  ids: Map<string, string>
  viewIds: Map<string, string>
  hookIds: Map<string, string>
  /** The columns of fields that stay as they are, by the ids of the originals. */
  columns: Map<string, string>
  places: FurtherFill['places']
  history: FurtherFill['history']
}

/** Plans the copies under new ids. */
async function planCopy(
  { schema, views: { tableViews } }: Pick<Deps, 'schema' | 'views'>,
  input: TablesToBaseInput,
  { staging, hookIds }: { staging: string; hookIds: Map<string, string> },
): Promise<CopyPlan> {
  const { tables, withViews, isMove } = input
  const models = await Promise.all(tables.map(({ id }) => schema.load(id)))
  const effects = planFields(models, { isMove })
  const isTogether = (tableId: string) => models.some(({ table }) => table.id === tableId)
  const links = models.flatMap(({ stored }) =>
    stored.flatMap((field) => {
      const link = linkOf(field)
      return link && field.error === null && isTogether(link.relatedTableId) ? link : []
    }),
  )
  const pairs = new Map(
    links.flatMap(({ junction }) =>
      junction ? [[junction.tableId, [junction.ownFieldId, junction.relatedFieldId] as const] as const] : [],
    ),
  )
  const keyIds = new Set(links.map(({ keyFieldId }) => keyFieldId))
  const junctions = await Promise.all([...pairs.keys()].map((id) => schema.load(id)))
  const all = [...models, ...junctions]

  const ids = new Map<string, string>(tables.map(({ id, newId }) => [id, newId]))
  ids.set(input.fromBaseId, input.baseId)
  for (const { table } of junctions) ids.set(table.id, createId('table'))
  const isCopied = (field: StoredField) => isCopiedField(field, effects, keyIds, pairs, isTogether)
  const fields = all.flatMap(({ stored }) => stored.filter(isCopied))
  for (const { id } of fields) ids.set(id, createId('field'))
  const copied = await tableViews.forCopies(
    models.map(({ table }) => table.id),
    withViews,
    { isMove },
  )
  const viewIds = new Map(copied.ids.map((id) => [id, createId('view')]))
  for (const [id, newId] of viewIds) ids.set(id, newId)
  for (const [id, newId] of hookIds) ids.set(id, newId)

  const planned = await Promise.all(
    all.map(async (model, at) => {
      const title = tables[at]?.title ?? model.table.title
      const name = `${staging}${at}`
      const pair = pairs.get(model.table.id)
      const computed = model.fields.filter(({ id }) => effects.get(id) === 'values')
      const reads = await tablesReadBy(computed, schema)
      return planTable(model, { effects, isCopied, ids, title, name, pair, input, reads })
    }),
  )
  const keptFields = fields.filter(({ id }) => effects.get(id) !== 'values')
  const tableOf = new Map(copied.ids.map((id, at) => [id, copied.tableIds[at] ?? '']))
  return {
    models: all,
    tables: planned,
    views: copied,
    ids,
    viewIds,
    hookIds,
    columns: new Map(
      keptFields.flatMap(({ id, columnName }) => (columnName === '' ? [] : [[id, columnName] as const])),
    ),
    places: new Map(
      [...viewIds].map(([id, viewId]) => [id, { viewId, tableId: ids.get(tableOf.get(id) ?? '') ?? '' }]),
    ),
    history:
      input.withHistory && input.withData
        ? {
            tables: new Map(all.map(({ table }) => [table.id, ids.get(table.id) ?? ''])),
            fields: new Map(keptFields.map(({ id }) => [id, ids.get(id) ?? ''])),
            views: viewIds,
            fileFields: new Set(keptFields.filter(holdsFiles).map(({ id }) => id)),
          }
        : null,
  }
}

/** True for fields of which the copy has one: not those left out, nor the keys and hidden ends of links that end. */
function isCopiedField(
  field: StoredField,
  effects: FieldEffects,
  keyIds: ReadonlySet<string | null>,
  pairs: ReadonlyMap<string, unknown>,
  isTogether: (tableId: string) => boolean,
): boolean {
  if (pairs.has(field.tableId)) return true
  if (isForeignKey(field)) return keyIds.has(field.id)
  const effect = effects.get(field.id)
  if (effect !== undefined) return effect !== 'left'
  // The hidden end of a link has no effect of its own.
  const link = linkOf(field)
  return link === null || (field.error === null && isTogether(link.relatedTableId))
}

function planTable(
  model: TableModel,
  {
    effects,
    isCopied,
    ids,
    title,
    name,
    pair,
    input,
    reads,
  }: {
    effects: FieldEffects
    isCopied: (field: StoredField) => boolean
    ids: ReadonlyMap<string, string>
    title: string
    name: string
    pair: readonly [string, string] | undefined
    input: TablesToBaseInput
    reads: ReadonlySet<string>
  },
): PlannedTable {
  const { table } = model
  const columnNames = new Set(model.stored.map(({ columnName }) => columnName.toLowerCase()))
  const valueIds: string[] = []
  const columns: FilledColumn[] = []
  const fields = model.stored.filter(isCopied).map((field): StoredField => {
    const fresh = fieldWithNewIds(field, ids)
    if (effects.get(field.id) !== 'values') {
      if (field.columnName !== '')
        columns.push({
          to: field.columnName,
          kind: columnKindOf(field),
          isIdentity: field.isPrimaryKey,
          from: field.columnName,
          holdsFiles: holdsFiles(field),
        })
      return { ...fresh, options: adapted(field, ids, input) ?? fresh.options }
    }
    const { type, options } = valueType(field)
    const columnName = physicalName(field.title, columnNames, 'field')
    columnNames.add(columnName.toLowerCase())
    valueIds.push(field.id)
    const kind = columnKindOf({ type })
    columns.push({ to: columnName, kind, isIdentity: false, field: { type, options } })
    const rules = { required: false, unique: false, defaultValue: null }
    return { ...fresh, ...rules, type, options, columnName, result: null, error: null, wireMeta: null }
  })
  const named = fields.some(({ isDisplay }) => isDisplay)
  const columnNameOf = (fieldId: string | undefined) => model.field(fieldId ?? '')?.columnName ?? ''
  return {
    model,
    valueIds,
    fill: { id: table.id, isJunction: table.isJunction, from: table.tableName, to: name, columns, reads },
    staged: {
      table: {
        id: ids.get(table.id) ?? '',
        title,
        description: table.description,
        meta: table.meta,
        isJunction: table.isJunction,
      },
      fields: fields.map((field) => (named || !field.isPrimaryKey ? field : { ...field, isDisplay: true })),
      staging: name,
      rows: 0,
      pair: pair ? [columnNameOf(pair[0]), columnNameOf(pair[1])] : null,
      indexedAs: null,
    },
  }
}

/** Options that apply to the original only, as those of the copy; null: all apply. */
function adapted(
  field: StoredField,
  ids: ReadonlyMap<string, string>,
  { withData }: TablesToBaseInput,
): StoredField['options'] | null {
  const { options } = fieldWithNewIds(field, ids)
  // An empty table starts numbering at 1.
  if (fieldType(field.type).numbersRecords && !withData) return { ...options, behind: 0 }
  // A button triggers the copy of its webhook, or none.
  const { webhookId } = field.options
  if (typeof webhookId === 'string') return { ...options, webhookId: ids.get(webhookId) ?? null }
  const link = linkOf(field)
  if (!link) return null
  // The limiting view or the other end may be in the trash, or left behind.
  const known = (id: string | null) => (id === null ? null : (ids.get(id) ?? null))
  return { ...options, viewId: known(link.viewId), inverseFieldId: known(link.inverseFieldId) }
}

/** Which of some records the staged table has. */
const hasIn = (engine: Engine, table: PlannedTable) => async (recordIds: readonly string[]) => {
  const numbers = recordIds.map(Number).filter(Number.isSafeInteger)
  const key = table.staged.fields.find(({ isPrimaryKey }) => isPrimaryKey)?.columnName
  if (numbers.length === 0 || key === undefined) return new Set<string>()
  const { quote }: Pick<Dialect, 'quote'> = engine.dialect
  const rows = await engine.all<{ id: number }>({
    sql: `select ${quote(key)} as id from ${quote(table.staged.staging)} where ${quote(key)} in (${numbers.join(', ')})`,
    params: [],
  })
  return new Set(rows.map(({ id }) => String(id)))
}

const moveOf = (
  input: TablesToBaseInput,
  { ids, viewIds, columns }: Pick<CopyPlan, 'ids' | 'viewIds' | 'columns'>,
): TableMove => ({
  fromBaseId: input.fromBaseId,
  toBaseId: input.baseId,
  tables: newIdsOf(input),
  fields: new Map([...ids].filter(([id]) => id.startsWith('c'))),
  views: viewIds,
  columns: new Map([...columns].map(([id, name]) => [id, { from: name, to: name }])),
})

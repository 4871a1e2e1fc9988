import { type SQL, sql } from 'drizzle-orm'
import { nowIso } from '../../../src/clock.ts'
import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { type AppliedChange, positionKey, type Values } from '../../../src/core/changes.ts'
import { toStored } from '../../../src/core/dates.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { WorkKind } from '../../../src/core/work.ts'
import { LAST_ENTRY_ID } from '../../../src/db/change-log/append.ts'
import { unknownEffects } from '../../../src/db/change-log/effects.ts'
import { entriesOfTableAfter } from '../../../src/db/change-log/entries.ts'
import { listedKeys } from '../../../src/db/change-log/keys.ts'
import { isListedAfter, isWrittenAfter } from '../../../src/db/change-log/later-changes.ts'
import { tablesOf } from '../../../src/db/change-log/records.ts'
import { beginSetEntry, endSetEntry, logRows } from '../../../src/db/change-log/set-entries.ts'
import {
  type LoggedSet,
  loggedSet,
  type Squash,
  selectDeletedIds,
  squashedSet,
  stagedSet,
  stageSet,
  UNSTAGE,
} from '../../../src/db/change-log/sets.ts'
import type { Engine, QueryDialect } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { OpenWork } from '../../../src/works.ts'
import type { FieldChanges, TableModel } from '../../schema/index.ts'
import {
  countKept,
  countRewind,
  type LinkSchema,
  linkTableOf,
  planRewind,
  planSetCascade,
  planSetRestore,
  type Relation,
  type Rewind,
  relationsToRewind,
  restoreStatements,
  rewindable,
  type SetCascade,
} from '../links/index.ts'
import type { TouchRecords } from '../read/index.ts'
import {
  fieldNamed,
  formerFieldsNow,
  planRevert,
  type Reverted,
  snapshot,
  UNCHANGED_FIELDS,
  viewsWithPlaces,
} from '../rows/index.ts'
import { columnIn, columnOf, rangeOf, readRecords, requireAll, wholeSecond } from '../table/index.ts'
import { type Attempt, explainViolation } from './explain-conflict.ts'
import { findRepeated, type Repeated } from './repeated-change.ts'

/** The log entry of a set write; records and values follow from the set. */
export interface SetEntry {
  kind: string
  undoes?: number
  redoes?: number
  /** The sender’s id for the change, so that a repeated one is written once. */
  clientId?: string
  /** Runs with the write lease, before anything is planned. Nothing is written if it throws. */
  requireDue?: () => Promise<void>
  /** The changes of the fields since the entry whose values are written, if the caller has read them. */
  fieldChanges?: FieldChanges
}

/** The result of a set write, which counts its records without listing them. */
export interface SetApplied extends AppliedChange {
  count: number
  /** Values that were skipped because someone changed them since. */
  skipped: number
}

interface Plan {
  /** Detail of the log entry. */
  detail?: unknown
  statements: SQL[]
  /** The indexes of the statements that log records of the table. */
  counted: number[]
  /** The other tables that are written to. */
  tableIds?: string[]
  /** Those of them whose constraints may be violated. */
  models?: TableModel[]
  /** Counts the values that the write skips, as `n`, before it. */
  countSkipped?: SQL
  /** Values given to all records. */
  given?: Values
  /** How many rows are written for each record that is logged first; absent: 2. */
  passes?: number
}

/** Logs the records, and writes them, with statements on other tables between the two or after both. */
interface LogAndWrite extends Omit<Plan, 'statements' | 'counted' | 'tableIds'> {
  log: SQL
  write: SQL
  between?: SetCascade
  after?: SetCascade
}

const asPlan = ({ log, write, between, after, ...plan }: LogAndWrite): Plan => ({
  ...plan,
  statements: [log, ...(between?.statements ?? []), write, ...(after?.statements ?? [])],
  counted: [0],
  tableIds: [...(between?.tableIds ?? []), ...(after?.tableIds ?? [])],
})

/** What `rewind` gives back to the records of a table. */
export interface RewindTarget {
  /** The last entry before the changes to be taken back. */
  after: number
  /** ISO 8601, for the log. */
  at: string
  /** People whose changes are kept. */
  keep: readonly string[]
  /** Fields that keep their values, and that stay empty in restored records. */
  except: ReadonlySet<string>
  /** Link fields that keep their links. */
  exceptLinks: ReadonlySet<string>
  /**
   * True if the definitions of the tables are those of that moment as well: values that went with a change of their field
   * are taken back, and the records keep no trace of this write.
   */
  isWhole?: boolean
}

interface Deps {
  kernel: Pick<Kernel, 'works'> & {
    sources: Pick<Kernel['sources'], 'engine'>
    events: Pick<Kernel['events'], 'emit'>
  }
  schema: LinkSchema
  touch: TouchRecords
}

/** Detail of a set update: the fields that it wrote. */
export interface SetDetail {
  fields: string[]
}

/** Returns `where …` for the table as it is when the write begins. */
export type Where = (model: TableModel, dialect: QueryDialect) => SQL

/**
 * Writes to all records of a condition as a set, in a worker thread: the cost grows with the table, but its rows do
 * not pass through this process. The log keeps each record’s values before and after, as for single writes, so undo
 * and history work the same.
 */
export function createSetWrites({ kernel, schema, touch }: Deps) {
  /**
   * Deletes the records and logs all their values.
   *
   * @param options `added`: the change that added the records, if it is undone: links that it replaced are restored.
   *   `ids`: records that must exist.
   * @throws RECORD_NOT_FOUND naming the `ids` that do not exist
   */
  function deleteWhere(
    actor: Actor,
    tableId: string,
    where: Where,
    entry: SetEntry,
    { added, ids }: { added?: number; ids?: RecordId[] } = {},
  ): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const { dialect } = engine
      if (ids) requireAll(ids, await readRecords({ tx: engine, dialect, model }, ids, []))
      const condition = where(model, dialect)
      const columns = await snapshot(model, engine)
      const id = dialect.logId(columnOf(model.primaryKey))
      const stamp = (table: TableModel) => stampOf(table, actor)
      return asPlan({
        log: logRows(dialect, {
          changeId: LAST_ENTRY_ID,
          tableId: sql`${tableId}`,
          recordId: id,
          before: dialect.jsonObject(columns),
          after: sql`null`,
          source: sql`from ${tableOf(model)} ${condition}`,
        }),
        between: await planSetCascade(
          { engine, schema, model, newId: LAST_ENTRY_ID, stampOf: stamp, undone: added },
          condition,
        ),
        // Selected by the log, as records without their links may not meet the condition any more.
        write: sql`delete from ${tableOf(model)} where ${id} in (${selectDeletedIds(LAST_ENTRY_ID, model.table.id)})`,
      })
    })
  }

  /** Writes the same values to all records. */
  function updateWhere(
    actor: Actor,
    tableId: string,
    where: Where,
    values: (model: TableModel) => Values,
    entry: SetEntry,
  ): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const given = values(model)
      if (Object.keys(given).length === 0) return null
      const after: Values = { ...given, ...stampOf(model, actor) }
      const fields = model.fields.filter((field) => field.id in after)
      const before = fields.map((field) => ({
        key: field.id,
        column: columnOf(field),
        storage: fieldType(field.type).storage,
      }))
      const { dialect } = engine
      const condition = where(model, dialect)
      const assignments = fields.map((field) => sql`${columnOf(field)} = ${after[field.id] ?? null}`)
      return asPlan({
        given,
        detail: { fields: Object.keys(given) } satisfies SetDetail,
        log: logRows(dialect, {
          changeId: LAST_ENTRY_ID,
          tableId: sql`${tableId}`,
          recordId: dialect.logId(columnOf(model.primaryKey)),
          before: dialect.jsonObject(before),
          after: sql`${JSON.stringify(after)}`,
          source: sql`from ${tableOf(model)} ${condition}`,
        }),
        write: sql`update ${tableOf(model)} set ${sql.join(assignments, sql`, `)} ${dialect.whereSelected({
          table: tableOf(model),
          key: columnOf(model.primaryKey),
          where: condition,
        })}`,
      })
    })
  }

  /** Restores the values before a change that wrote the same fields of its records. */
  function revert(actor: Actor, tableId: string, change: Reverted, entry: SetEntry): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const former = await formerFieldsNow(engine, model, change.changeId, entry.fieldChanges)
      const fieldIds = change.fieldIds.filter((id) => !former.converted.has(id))
      const reverted = { ...change, fieldIds, former }
      const stamp = stampOf(model, actor)
      const { log, update, countSkipped } = planRevert(model, engine, reverted, stamp, LAST_ENTRY_ID)
      return asPlan({ log, write: update, countSkipped })
    })
  }

  /** Restores all records that the change `changeId` deleted from the table. */
  function restoreFrom(
    actor: Actor,
    tableId: string,
    changeId: number,
    entry: SetEntry,
  ): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const stamp = (table: TableModel) => stampOf(table, actor)
      const context = { engine, schema, changeId, newId: LAST_ENTRY_ID, stampOf: stamp }
      const logged = loggedSet(changeId, tableId, 'deleted')
      // Records that were deleted again since belong to the later deletion.
      const isAgain = isWrittenAfter(tableId, changeId, logged.recordId, LAST_ENTRY_ID)
      const set = { ...logged, where: sql`${logged.where} and not ${isAgain}` }
      const columns = await snapshot(model, engine)
      const former = await formerFieldsNow(engine, model, changeId, entry.fieldChanges)
      const statements = restoreStatements(engine, model, columns, {
        set,
        newId: LAST_ENTRY_ID,
        except: former.converted,
        former,
      })
      return asPlan({ ...statements, after: await planSetRestore(context, model) })
    })
  }

  /**
   * Gives the records of a table the values and links that they had after an entry, as one change.
   *
   * @throws DATABASE_ERROR for a value that must be unique and is in a record that stays: nothing changes then
   */
  function rewind(actor: Actor, tableId: string, target: RewindTarget): Promise<SetApplied> {
    return run(actor, tableId, { kind: 'records.rewind' }, async (_, engine) => {
      const { model, rewound, stage } = await rewindOf(engine, actor, tableId, target)
      const planned = await planRewind({ ...rewound, setOf: stagedSet }, model)
      return {
        statements: [...stage, ...planned.statements, UNSTAGE],
        counted: planned.counted.map((index) => index + stage.length),
        tableIds: planned.tableIds,
        models: planned.models,
        detail: { at: target.at, after: target.after, keep: target.keep } satisfies RewindDetail,
        passes: 4,
      }
    })
  }

  /** The numbers of records that `rewind` would change, delete and add, as of now. */
  async function previewRewind(
    actor: Actor,
    tableId: string,
    target: RewindTarget,
  ): Promise<{ changed: number; deleted: number; added: number }> {
    const { baseId } = (await schema.load(tableId)).table
    const engine = await kernel.sources.engine(baseId)
    const { model, rewound } = await rewindOf(engine, actor, tableId, target)
    const [row] = await engine.all<Record<'changed' | 'deleted' | 'added', number>>(
      engine.dialect.render(await countRewind(rewound, model)),
      { scan: true },
    )
    const { changed = 0, deleted = 0, added = 0 } = row ?? {}
    return { changed: Number(changed), deleted: Number(deleted), added: Number(added) }
  }

  /** The sets that a rewind of a table starts from, computed from the log, and the statements that store them. */
  async function rewindOf(engine: Engine, actor: Actor, tableId: string, target: RewindTarget) {
    const { dialect } = engine
    const { after, keep, except, isWhole = false } = target
    const model = await schema.loadWithKeys(tableId)
    const isKept = (relation: Relation) =>
      linksOf(relation).some((field) => field !== null && target.exceptLinks.has(field.id))
    const relations = (await relationsToRewind(schema, model)).filter((relation) => !isKept(relation))
    const models = [...new Map([model, ...relations.map(linkTableOf)].map((each) => [each.table.id, each]))]
    const sets = new Map<string, (alias: string) => LoggedSet>()
    for (const [id, each] of models) {
      const ranges = await rangesAfter(engine, id, after, keep)
      const keys = relations.flatMap((relation) =>
        relation.kind === 'key' && relation.child.table.id === id ? [relation.key.id] : [],
      )
      const squash = {
        tableId: id,
        after,
        keep,
        ranges,
        withFields: isWhole,
        ...(keys.length > 0 && { keys }),
      }
      const removed = ranges.filter((range) => !range.isKept)
      const key = columnIn({ alias: each.table.tableName }, each.primaryKey)
      const unlisted =
        removed.length === 0 || keys.length > 0
          ? undefined
          : sql`select ${dialect.logId(key)} as id from ${tableOf(each)}
              where ${dialect.or(removed.map(({ from, to }) => sql`${key} between ${from} and ${to}`))}
                and not ${isListedAfter(id, after, dialect.logId(key))}`
      sets.set(id, (alias) => squashedSet(dialect, squash, alias, unlisted))
    }
    const setOf: Rewind['setOf'] = (id, alias) => sets.get(id)?.(alias) ?? emptySet(alias)
    const stamp = stampOf(model, actor)
    const stamped = isWhole ? model.fields.filter(({ id }) => id in stamp) : []
    const fields = [...rewindable(model), ...stamped].filter(({ id }) => !except.has(id))
    const viewIds = await viewsWithPlaces(engine, tableId)
    const keys = [...fields.map(({ id }) => id), ...viewIds.map(positionKey)]
    const range = { tableId, from: after + 1, to: Number.MAX_SAFE_INTEGER }
    const named = await listedKeys(engine, { ...range, keys })
    const rewound: Rewind = {
      tableId,
      engine,
      schema,
      newId: LAST_ENTRY_ID,
      stampOf: (table) => (isWhole ? {} : stampOf(table, actor)),
      setOf,
      hasExpected: false,
      fields: fields.filter(({ id }) => named.has(id)),
      viewIds: viewIds.filter((id) => named.has(positionKey(id))),
      except,
      former: UNCHANGED_FIELDS,
      relations,
    }
    const stage = models.map(([id]) => stageSet(dialect, id, setOf(id, 'squashed')))
    return { model, rewound, stage }
  }

  /**
   * Reverts a change that added, changed and deleted records of a table, such as a rewind, with its links.
   *
   * @param options `keepsChanged`: records that it added stay if someone has changed them since
   */
  async function revertAll(
    actor: Actor,
    tableId: string,
    changeId: number,
    entry: SetEntry,
    { keepsChanged = false }: { keepsChanged?: boolean } = {},
  ): Promise<SetApplied> {
    const setOf = (id: string, alias: string): LoggedSet => {
      const set = loggedSet(changeId, id, alias)
      if (!keepsChanged || id !== tableId) return set
      const isChanged = isWrittenAfter(tableId, changeId, set.recordId)
      return { ...set, where: sql`${set.where} and not (${set.before} is null and ${isChanged})` }
    }
    // What the entry lists stays: it is read before others have to wait.
    const log = await kernel.sources.engine((await schema.loadWithKeys(tableId)).table.baseId)
    const asked = new Set<string>()
    const named = new Set<string>()
    const findNamed = async (model: TableModel, viewIds: readonly string[]): Promise<void> => {
      const keys = [...rewindable(model).map(({ id }) => id), ...viewIds.map(positionKey)]
      const rest = keys.filter((key) => !asked.has(key))
      for (const key of rest) asked.add(key)
      for (const key of await listedKeys(log, { tableId, from: changeId, to: changeId, keys: rest }))
        named.add(key)
    }
    await findNamed(await schema.loadWithKeys(tableId), await viewsWithPlaces(log, tableId))
    const touched = new Set(await tablesOf(log, log.dialect, changeId))
    return run(actor, tableId, entry, async (_, engine) => {
      const model = await schema.loadWithKeys(tableId)
      const former = await formerFieldsNow(engine, model, changeId, entry.fieldChanges)
      const except = former.converted
      const viewIds = await viewsWithPlaces(engine, tableId)
      await findNamed(model, viewIds)
      const relations = await relationsToRewind(schema, model)
      const reverted: Rewind = {
        tableId,
        engine,
        schema,
        newId: LAST_ENTRY_ID,
        stampOf: (table) => stampOf(table, actor),
        setOf,
        hasExpected: true,
        fields: rewindable(model).filter(({ id }) => named.has(id) && !except.has(id)),
        viewIds: viewIds.filter((id) => named.has(positionKey(id))),
        except,
        former,
        relations: relations.filter((relation) => touched.has(linkTableOf(relation).table.id)),
      }
      const countSkipped = await countKept(reverted, model)
      return { ...(await planRewind(reverted, model)), countSkipped, passes: 2 }
    })
  }

  async function run(
    actor: Actor,
    tableId: string,
    { kind, undoes, redoes, clientId, requireDue }: SetEntry,
    plan: (model: TableModel, engine: Engine) => Promise<Plan | null>,
  ): Promise<SetApplied> {
    const known = await schema.load(tableId)
    const { baseId } = known.table
    const engine = await kernel.sources.engine(baseId)
    let at = nowIso()
    const actorId = actorIdOf(actor)
    const actionId = actor.kind === 'user' ? actor.actionId : undefined
    let repeated: Repeated | null = null
    const tableIds = new Set([tableId])
    const attempts: Attempt[] = []
    const models = [known]
    let passes = 2
    let counted: number[] = []
    /** The index of the statement that counts what is skipped. */
    let skippedAt: number | null = null
    // Planned inside the lease, so that no schema change comes between plan and write.
    const script = async () => {
      if (clientId) {
        repeated = await findRepeated(
          { tx: engine, dialect: engine.dialect, load: schema.loadWithKeys },
          actorId,
          clientId,
        )
        if (repeated) return []
      }
      await requireDue?.()
      // Not before the wait for the lease: the entries of a log are in the order of time.
      at = nowIso()
      const planned = await plan(await schema.load(tableId), engine)
      if (!planned) return []
      const { detail, given, countSkipped } = planned
      passes = planned.passes ?? passes
      const begin = beginSetEntry({ at, actorId, kind, tableId, undoes, redoes, detail, clientId, actionId })
      if (countSkipped) skippedAt = begin.push(countSkipped) - 1
      counted = planned.counted.map((index) => index + begin.length)
      models.push(...(planned.models ?? []))
      // Two rows with the same values explain a unique violation among the records themselves.
      if (given) attempts.push({ tableId, rows: [{ values: given }, { values: given }] })
      for (const id of planned.tableIds ?? []) tableIds.add(id)
      const statements = [...begin, ...planned.statements, ...endSetEntry({ undoes, redoes })]
      return statements.map((statement) => engine.dialect.render(statement))
    }
    const work = { kind: workKindOf(kind), baseId, table: known.table }
    const results = await kernel.works
      .follow(actor, work, (open) =>
        engine.writeScript(script, { ...watchOfSet(open, () => passes), joinsSets: true }),
      )
      .catch(async (error) => {
        throw await explainViolation(error, engine, models, attempts)
      })
    const again = repeated as Repeated | null
    if (again) {
      const { entry, count, tableIds: touched } = again
      const answer = { id: entry.id, baseId, clientId, actorId, at: entry.at }
      return { ...answer, records: [], truncated: true, tableIds: touched, count, skipped: 0 }
    }
    touch(unknownEffects(tableIds))
    const count = counted.reduce((sum, index) => sum + Number(results[index]?.changes ?? 0), 0)
    const applied: AppliedChange = {
      id: Number(results[1]?.rows[0]?.id ?? 0),
      baseId,
      clientId,
      actorId,
      at,
      records: [],
      truncated: true,
      tableIds: [...tableIds],
    }
    if (count > 0) kernel.events.emit('records.changed', applied)
    const skippedIndex = skippedAt as number | null
    const skipped = skippedIndex === null ? 0 : Number(results[skippedIndex]?.rows[0]?.n ?? 0)
    return { ...applied, count, skipped }
  }

  return { deleteWhere, updateWhere, restoreFrom, revert, rewind, previewRewind, revertAll }
}

export type SetWrites = ReturnType<typeof createSetWrites>

/** The fields for the time and author of the last change. */
const stampOf = (model: TableModel, actor: Actor): Values => ({
  [fieldNamed(model, 'updated_at').id]: toStored(wholeSecond()),
  [fieldNamed(model, 'updated_by').id]: actorIdOf(actor),
})

/** Detail of a rewind: the moment, and the last entry of that time. */
interface RewindDetail {
  at: string
  after: number
  keep: readonly string[]
}

/** The ranges of ids that entries after one added to a table, joined where they are adjacent. */
async function rangesAfter(
  engine: Engine,
  tableId: string,
  after: number,
  keep: readonly string[],
): Promise<Squash['ranges']> {
  const entries = await entriesOfTableAfter(engine, tableId, after, 'records.%')
  const ranges = entries
    .filter(({ kind }) => kind === 'records.insert' || kind === 'records.import')
    .flatMap((entry) => {
      const range = rangeOf(entry)
      const isKept = entry.actorId !== null && keep.includes(entry.actorId)
      return range ? [{ from: range.from, to: range.to, isKept }] : []
    })
    .toSorted((a, b) => a.from - b.from)
  const joined: { from: number; to: number; isKept: boolean }[] = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last && last.isKept === range.isKept && last.to + 1 === range.from) last.to = range.to
    else joined.push({ ...range })
  }
  return joined
}

const linksOf = (relation: Relation): (Field | null)[] =>
  relation.kind === 'pairs'
    ? relation.sides.map(({ link }) => link)
    : [relation.childLink, relation.parentLink]

/** A set without records. */
const emptySet = (alias: string): LoggedSet => stagedSet('', alias)

/**
 * Reports progress: a set write reports its log entry first, then a log row per record, then the records.
 *
 * @param passes rows written for each record in total
 */
function watchOfSet(work: OpenWork, passes: () => number): OpenWork {
  let isKnown = false
  return {
    ...work,
    progress(rows) {
      if (rows <= 1) return
      if (!isKnown) work.expect(passes() * (rows - 1) + 1, rows - 1)
      isKnown = true
      work.progress(rows)
    },
  }
}

/** `records.delete` is `delete`; `undo` and `redo` stay. */
const workKindOf = (kind: string): WorkKind => kind.replace('records.', '') as WorkKind

const tableOf = (model: TableModel): SQL => sql`${sql.identifier(model.table.tableName)}`

import { type SQL, sql } from 'drizzle-orm'
import type { AddedLinks, UpdatedRecord, UpdateResult } from '../../../src/core/csv/import-result.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { appendChange } from '../../../src/db/change-log/append.ts'
import { logRows } from '../../../src/db/change-log/set-entries.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type Append,
  type ImportColumn,
  type ImportPlan,
  isLinkColumn,
  type LinkColumn,
  linksTableOf,
  ROW_COLUMN,
  UPDATE_COLUMNS,
  type UpdateFinish,
} from '../plan.ts'
import { type Finished, insertRows, lastPosition, MOVE_ROWS, refuseRows } from './append.ts'
import { rowSkipped } from './convert.ts'
import type { FinishTools } from './fill.ts'
import {
  type Group,
  groupLinks,
  type LinkGroups,
  type OwnChanges,
  resolveLinkIds,
  writeKeys,
  writePairs,
} from './write-links.ts'

/*
 * Updates existing records from the staged rows, and adds the others, by statements whose number depends on the
 * columns alone. Rows are classified first, which is all that a preview does: each gets the id of its record and a
 * `RowState`, and those that cannot be written are reported and removed.
 */

/**
 * What a staged row does, as `UPDATE_COLUMNS.state` has it. Null for most rows, because writing each row again is slow: those
 * with a record change nothing, and the others add one.
 */
const State = {
  withoutKey: 1,
  repeated: 2,
  ambiguous: 3,
  unknown: 4,
  skipped: 5,
  refused: 6,
  changed: 10,
  added: 11,
} as const

type State = (typeof State)[keyof typeof State]

/** Changed records that a preview shows, and the longest text of a cell. */
const SAMPLES = 10
const MAX_TEXT = 200

/** Rows that are reported at a time. */
const REPORTED = 2000

const row = sql.identifier(ROW_COLUMN)
const recordId = sql.identifier(UPDATE_COLUMNS.id)
const state = sql.identifier(UPDATE_COLUMNS.state)

/** Condition: the row adds a record, which has no id yet. */
const IS_NEW = sql`${state} is null and ${recordId} is null`

/** What every step needs. */
interface Context {
  plan: ImportPlan
  how: Append
  options: UpdateFinish
  tools: FinishTools
  groups: LinkGroups
  staging: SQL
  target: SQL
}

/** Writes the staged rows to the table and logs them, in the caller's transaction; a preview only counts them. */
export async function update(plan: ImportPlan, how: Append, tools: FinishTools): Promise<Finished> {
  if (!how.update) throw new Error('The import does not update records')
  const context: Context = {
    plan,
    how,
    options: how.update,
    tools,
    groups: groupLinks(plan),
    staging: sql`${sql.identifier(plan.staging)}`,
    target: sql`${sql.identifier(how.target)}`,
  }
  const { tx, dialect } = tools
  const found = await matchRows(context)
  const rowsRefused =
    found.withoutKey +
    found.repeated +
    found.ambiguous +
    found.unknown +
    (await refuseMissing(context)) +
    (await refuseRows(plan, how, tools))
  for (const statement of dialect.createIndex(plan.staging, [UPDATE_COLUMNS.id])) await tx.run(statement)
  if (plan.columns.some(isLinkColumn)) {
    const records = sql`select ${row} as at, coalesce(${recordId}, -${row}) as id from ${context.staging}`
    await resolveLinkIds(plan, context.groups, tools, records)
  }
  await findChanged(context)
  const { isPreview } = how
  const result: UpdateResult = {
    ...found,
    isPreview,
    added: await count(context, IS_NEW),
    changed: await count(context, sql`${state} = ${State.changed}`),
    unchanged: await count(context, sql`${state} is null and ${recordId} is not null`),
    changes: isPreview ? await sampleChanges(context) : [],
  }
  const links = await addedLinks(context)
  const isNothing = result.added === 0 && result.changed === 0
  const changeId = isPreview || isNothing ? null : await write(context, result)
  return { rows: result.added, rowsRefused, changeId, update: result, links }
}

const run = ({ tools: { tx, dialect } }: Context, query: SQL) => tx.run(dialect.render(query))

async function one<T>({ tools: { tx, dialect } }: Context, query: SQL): Promise<T | null> {
  const [found] = await tx.all<{ n: T }>(dialect.render(query))
  return found?.n ?? null
}

const count = async (context: Context, where: SQL): Promise<number> =>
  Number(await one(context, sql`select count(*) as n from ${context.staging} where ${where}`))

/** Columns that are compared with records and written to them. */
const valueColumns = ({ plan, options }: Context): ImportColumn[] =>
  plan.columns.filter((column, at) => !isLinkColumn(column) && !options.keys.includes(at))

const keyColumns = ({ plan, options }: Context): ImportColumn[] =>
  options.keys.flatMap((at) => plan.columns[at] ?? [])

/** The field's column of a key in the table. */
const targetColumn = ({ how }: Context, { isRecordId, column }: ImportColumn): SQL =>
  sql`${sql.identifier(isRecordId ? how.keyColumn : column)}`

/**
 * Finds the record of each row, and removes rows without one record to change. Keys are compared as the filter of the
 * field compares them: as stored values, so that `1` equals `1.0`, and text with its case.
 */
async function matchRows(
  context: Context,
): Promise<Pick<UpdateResult, 'withoutKey' | 'repeated' | 'ambiguous' | 'unknown' | 'skipped'>> {
  const { staging, target, how, options } = context
  const keys = keyColumns(context)
  const names = keys.map(({ column }) => sql`${sql.identifier(column)}`)
  const isText = ({ type }: ImportColumn) => ['text', 'longText'].includes(fieldType(type).storage)
  const isEmpty = keys.map((key, at) =>
    isText(key) ? sql`coalesce(${names[at]}, '') = ''` : sql`${names[at]} is null`,
  )
  const withoutKey = await refuse(context, sql.join(isEmpty, sql` or `), {
    as: State.withoutKey,
    reason: m.imports_report_no_key(),
  })
  const numbered = sql`select ${row} as at, row_number() over (partition by ${sql.join(names, sql`, `)}
    order by ${row}) as place from ${staging}`
  const repeated = await refuse(
    context,
    sql`${row} in (select at from (${numbered}) as numbered where place > 1)`,
    { as: State.repeated, reason: m.imports_report_key_repeated() },
  )
  const isSame = keys.map((key, at) => sql`t.${targetColumn(context, key)} = s.${names[at]}`)
  const key = sql.identifier(how.keyColumn)
  await run(
    context,
    sql`update ${staging} set ${recordId} = found.id, ${state} = case when found.n > 1 then ${raw(State.ambiguous)} end
      from (select s.${row} as at, min(t.${key}) as id, count(*) as n from ${staging} as s join ${target} as t
        on ${sql.join(isSame, sql` and `)} group by s.${row}) as found
      where found.at = ${staging}.${row}`,
  )
  const ambiguous = await refuse(context, null, {
    as: State.ambiguous,
    reason: m.imports_report_key_ambiguous(),
  })
  const unknown = keys.some(({ isRecordId }) => isRecordId)
    ? await refuse(context, sql`${recordId} is null`, {
        as: State.unknown,
        reason: m.imports_report_unknown_id(),
      })
    : 0
  let skipped = 0
  if (options.mode !== 'updateAndAdd') {
    const isSkipped = options.mode === 'add' ? sql`${recordId} is not null` : sql`${recordId} is null`
    skipped = await count(context, isSkipped)
    await run(context, sql`delete from ${staging} where ${isSkipped}`)
  }
  return { withoutKey, repeated, ambiguous, unknown, skipped }
}

const raw = (value: number): SQL => sql.raw(String(value))

/** A reason to refuse rows, and the state that marks them. */
interface Refusal {
  as: State
  reason: string
  /** The column to name in the report; default: the keys. */
  column?: ImportColumn
}

/**
 * Reports and removes the rows that meet a condition, or that have the refusal's state already.
 * @returns their number
 */
async function refuse(context: Context, where: SQL | null, { as, reason, column }: Refusal): Promise<number> {
  const { staging, tools } = context
  const isRefused = sql`${state} = ${raw(as)}`
  if (where)
    await run(context, sql`update ${staging} set ${state} = ${raw(as)} where ${state} is null and (${where})`)
  const named = column ? [column] : keyColumns(context)
  const title = named.map((each) => each.title).join(', ')
  let refused = 0
  let last = 0
  for (;;) {
    tools.mainThread.check()
    const rows = await readCells(context, named, sql`${isRefused} and ${row} > ${last}`, REPORTED)
    for (const { number, texts } of rows)
      tools.report.add({ row: number, column: title, value: texts.join(', '), reason: rowSkipped(reason) })
    refused += rows.length
    last = rows.at(-1)?.number ?? last
    if (rows.length < REPORTED) break
  }
  if (refused > 0) await run(context, sql`delete from ${staging} where ${isRefused}`)
  return refused
}

/** The texts of some columns in the first staged rows that meet a condition. */
async function readCells(
  { staging, tools: { tx, dialect } }: Context,
  columns: readonly ImportColumn[],
  where: SQL,
  limit: number,
): Promise<{ number: number; texts: string[] }[]> {
  const cells = columns.map(({ column }, at) => sql`${sql.identifier(column)} as ${sql.raw(`c${at}`)}`)
  const rows = await tx.all<Record<string, CellValue>>(
    dialect.render(
      sql`select ${sql.join([sql`${row} as n`, ...cells], sql`, `)} from ${staging} where ${where} order by ${row} limit ${limit}`,
    ),
  )
  const texts = columns.map((column) => textOf(column, dialect.decode))
  return rows.map((found) => ({
    number: Number(found.n),
    texts: texts.map((text, at) => text(found[`c${at}`] ?? null)),
  }))
}

/** Formats the stored values of a column as text. */
function textOf(
  column: ImportColumn,
  decode: FinishTools['dialect']['decode'],
): (value: CellValue) => string {
  const decoded = column.link ? null : decode(fieldType(column.type).storage)
  return (value) => {
    if (value === null || column.link) return String(value ?? '')
    return formatValue(column, decoded ? decoded(value) : value)
  }
}

/** Gives new records the defaults of required fields, and removes rows that lack a required value. */
async function refuseMissing(context: Context): Promise<number> {
  const { plan, staging, options } = context
  let refused = 0
  for (const [at, column] of plan.columns.entries()) {
    if (!column.required || column.isRecordId) continue
    const name = sql.identifier(column.column)
    const isNew = sql`${recordId} is null`
    if (column.fallback !== null)
      await run(
        context,
        sql`update ${staging} set ${name} = ${column.fallback} where ${isNew} and ${name} is null`,
      )
    // A link that a cell on the other end holds is not needed here.
    const isCleared = options.emptyCells === 'clear' ? sql`or not ${isKept('', at)}` : sql``
    refused += await refuse(context, sql`${name} is null and (${isNew} ${isCleared})`, {
      as: State.refused,
      reason: m.imports_report_required(),
      column,
    })
  }
  return refused
}

/** Condition: the cell of a column was refused, so that an existing record keeps its value. */
const isKept = (alias: '' | 's.', position: number): SQL =>
  sql`coalesce(${sql.raw(alias)}${sql.identifier(UPDATE_COLUMNS.kept)}, '') like ${`%,${position},%`}`

/** A value column with its value in the record (alias or name of the table in `of`) and its next one. */
interface Cell {
  column: ImportColumn
  now: SQL
  next: SQL
}

function cellsOf(context: Context, of: SQL): Cell[] {
  const { plan, options } = context
  return valueColumns(context).map((column) => {
    const name = sql.identifier(column.column)
    const now = sql`${of}.${name}`
    const staged = sql`s.${name}`
    if (options.emptyCells === 'keep') return { column, now, next: sql`coalesce(${staged}, ${now})` }
    const { initial = null } = fieldType(column.type)
    const given = initial === null ? staged : sql`coalesce(${staged}, ${initial})`
    const kept = isKept('s.', plan.columns.indexOf(column))
    return { column, now, next: sql`case when ${kept} then ${now} else ${given} end` }
  })
}

/** Condition: row `s` lists all linked records of its record in a column. */
function listsLinks({ plan, options }: Context, column: LinkColumn): SQL {
  const isGiven =
    options.emptyCells === 'clear' ? sql`1 = 1` : sql`s.${sql.identifier(column.column)} is not null`
  return sql`${isGiven} and not ${isKept('s.', plan.columns.indexOf(column))}`
}

/** Selects the records that a link gains and loses by row `s`. */
interface LinkDifference {
  column: LinkColumn
  gained: SQL
  lost: SQL
}

/** The difference between the links of a record and those that its row lists, for each link column. */
function linkDifferences(context: Context): LinkDifference[] {
  const { groups } = context
  return [
    ...groups.pairs.flatMap((group) => group.columns.map((each) => pairDifference(context, group, each))),
    ...groups.keys.flatMap((group) => group.columns.map((each) => keyDifference(context, group, each))),
  ]
}

type ColumnOf<T extends Group<unknown>> = T['columns'][number]

function pairDifference(
  { plan }: Context,
  { link, storedIn }: LinkGroups['pairs'][number],
  { column, isSwapped }: ColumnOf<LinkGroups['pairs'][number]>,
): LinkDifference {
  const links = sql.identifier(linksTableOf(plan.staging))
  const junction = sql.identifier(storedIn.tableName)
  const [own, other] = isSwapped ? ['target', 'own'] : ['own', 'target']
  const [l, lOther] = [sql.raw(`l.${own}`), sql.raw(`l.${other}`)]
  const sides = [storedIn.ownColumn, storedIn.relatedColumn]
  const [j, jOther] = (isSwapped ? sides.toReversed() : sides).map(
    (name) => sql`j.${sql.identifier(name)}`,
  ) as [SQL, SQL]
  const named = sql`l.link = ${link} and ${l} = s.${recordId}`
  return {
    column,
    gained: sql`select distinct ${lOther} as id from ${links} as l where ${named} and not exists
      (select 1 from ${junction} as j where ${j} = ${l} and ${jOther} = ${lOther})`,
    lost: sql`select ${jOther} as id from ${junction} as j where ${j} = s.${recordId} and not exists
      (select 1 from ${links} as l where ${named} and ${lOther} = ${jOther})`,
  }
}

function keyDifference(
  { plan }: Context,
  { link, storedIn }: LinkGroups['keys'][number],
  { column, isSwapped }: ColumnOf<LinkGroups['keys'][number]>,
): LinkDifference {
  const links = sql.identifier(linksTableOf(plan.staging))
  const child = sql.identifier(storedIn.tableName)
  const key = sql`c.${sql.identifier(storedIn.keyColumn)}`
  const id = sql`c.${sql.identifier(storedIn.idColumn)}`
  if (isSwapped) {
    // The record is the parent: its children hold its id. A child that needs a parent stays until it gets another.
    const isFree = storedIn.isRequired
      ? sql`and exists (select 1 from ${links} as l where l.link = ${link} and l.own = ${id})`
      : sql``
    return {
      column,
      gained: sql`select l.own as id from ${links} as l left join ${child} as c on ${id} = l.own
        where l.link = ${link} and l.target = s.${recordId} and coalesce(${key}, 0) <> s.${recordId}`,
      lost: sql`select ${id} as id from ${child} as c where ${key} = s.${recordId} ${isFree} and not exists
        (select 1 from ${links} as l where l.link = ${link} and l.own = ${id} and l.target = s.${recordId})`,
    }
  }
  const ofRow = sql`${id} = s.${recordId}`
  return {
    column,
    gained: sql`select l.target as id from ${links} as l join ${child} as c on ${id} = l.own
      where l.link = ${link} and l.own = s.${recordId} and coalesce(${key}, 0) <> l.target`,
    lost: sql`select ${key} as id from ${child} as c where ${ofRow} and ${key} is not null and not exists
      (select 1 from ${links} as l where l.link = ${link} and l.own = ${id} and l.target = ${key})`,
  }
}

/** Condition: row `s` changes the links of its record in a column. */
const changesLinks = (context: Context, { column, gained, lost }: LinkDifference): SQL =>
  sql`(${listsLinks(context, column)} and (exists (${gained}) or exists (${lost})))`

/** Marks the rows that change their record. */
async function findChanged(context: Context): Promise<void> {
  const { staging, target, how, tools } = context
  const { dialect } = tools
  const differs = [
    dialect.constant(false),
    ...cellsOf(context, sql`t`).map(({ now, next }) => dialect.not(dialect.isSame(now, next))),
    ...linkDifferences(context).map((difference) => changesLinks(context, difference)),
  ]
  await run(
    context,
    sql`update ${staging} set ${state} = ${raw(State.changed)}
      where ${row} in (select s.${row} from ${staging} as s join ${target} as t
        on t.${sql.identifier(how.keyColumn)} = s.${recordId} where ${dialect.or(differs)})`,
  )
}

/** The links that new and existing records get to the records that have them in their lists. A row has one at most. */
async function addedLinks(context: Context): Promise<AddedLinks[]> {
  const { plan, groups, staging } = context
  const links = sql.identifier(linksTableOf(plan.staging))
  const added: AddedLinks[] = []
  for (const difference of linkDifferences(context)) {
    const { column, gained } = difference
    if (!column.link.rowsOf) continue
    const group = [...groups.keys, ...groups.pairs].find(({ columns }) =>
      columns.some((each) => each.column === column),
    )
    const ofNew = await one<number>(
      context,
      sql`select count(*) as n from ${staging} where ${IS_NEW} and exists
        (select 1 from ${links} as l where l.link = ${group?.link ?? column.index} and l.row = ${staging}.${row})`,
    )
    const ofExisting = await one<number>(
      context,
      sql`select count(*) as n from ${staging} as s where s.${recordId} is not null
        and ${listsLinks(context, column)} and exists (${gained})`,
    )
    const count = Number(ofNew ?? 0) + Number(ofExisting ?? 0)
    added.push({ field: column.title, related: column.link.related.table.title, count })
  }
  return added
}

/** The first changed records with their cells before and after. */
async function sampleChanges(context: Context): Promise<UpdatedRecord[]> {
  const { staging, target, how, tools } = context
  const { tx, dialect } = tools
  const cells = cellsOf(context, sql`t`)
  const links = linkDifferences(context)
  const flag = (condition: SQL) => sql`case when ${condition} then 1 else 0 end`
  const selected = [
    sql`s.${row} as n`,
    ...keyColumns(context).map(({ column }, at) => sql`s.${sql.identifier(column)} as ${sql.raw(`k${at}`)}`),
    ...cells.flatMap(({ now, next }, at) => [
      sql`${flag(dialect.not(dialect.isSame(now, next)))} as ${sql.raw(`d${at}`)}`,
      sql`${now} as ${sql.raw(`b${at}`)}`,
      sql`${next} as ${sql.raw(`a${at}`)}`,
    ]),
    ...links.flatMap((difference, at) => [
      sql`${flag(changesLinks(context, difference))} as ${sql.raw(`ld${at}`)}`,
      sql`s.${sql.identifier(difference.column.column)} as ${sql.raw(`la${at}`)}`,
    ]),
  ]
  const rows = await tx.all<Record<string, CellValue>>(
    dialect.render(sql`select ${sql.join(selected, sql`, `)} from ${staging} as s join ${target} as t
      on t.${sql.identifier(how.keyColumn)} = s.${recordId}
      where s.${state} = ${raw(State.changed)} order by s.${row} limit ${SAMPLES}`),
  )
  const keyTexts = keyColumns(context).map((column) => textOf(column, dialect.decode))
  const cellTexts = cells.map(({ column }) => textOf(column, dialect.decode))
  return rows.map((found) => ({
    row: Number(found.n),
    key: clip(keyTexts.map((text, at) => text(found[`k${at}`] ?? null)).join(', ')),
    cells: [
      ...cells.flatMap(({ column }, at) => {
        const text = (side: string) => clip(cellTexts[at]?.(found[`${side}${at}`] ?? null) ?? '')
        return found[`d${at}`] ? [{ field: column.title, before: text('b'), after: text('a') }] : []
      }),
      ...links.flatMap(({ column }, at) => {
        const after = clip(String(found[`la${at}`] ?? ''))
        return found[`ld${at}`] ? [{ field: column.title, before: null, after }] : []
      }),
    ],
  }))
}

const clip = (text: string): string =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text

/** Writes the changed and new records with their links. @returns the id of the log entry */
async function write(context: Context, { added, changed }: UpdateResult): Promise<number> {
  const { plan, how, tools, groups, staging, target } = context
  const { tx, dialect } = tools
  const lastOrder = await lastPosition(how, tools)
  const last = Number(await one(context, sql`select max(${row}) as n from ${staging}`))
  const [from = 1] = await dialect.allocateIds(tx, how.target, added)
  await numberRows(context, from)
  const entry = await appendChange(tx, dialect, {
    actorId: plan.actorId,
    actionId: plan.jobId,
    kind: 'records.import',
    tableId: how.tableId,
    records: [],
    recordCount: added + changed,
    detail: { jobId: plan.jobId, added, changed },
  })
  tools.mainThread.check()
  const own = ownChanges(context)
  await writeKeys(plan, groups, tools, entry.id, own)
  await insertRows(plan, how, tools, {
    groups,
    last,
    lastOrder,
    select: (after) => sql`select *, ${recordId} as new_id from ${staging}
      where ${state} = ${raw(State.added)} and ${row} > ${after} and ${row} <= ${after + MOVE_ROWS}`,
  })
  const key = sql`${target}.${sql.identifier(how.keyColumn)}`
  if (added > 0) {
    const values = plan.columns.flatMap((column) => {
      if (isLinkColumn(column) || column.isRecordId) return []
      const { fieldId, type } = column
      const value = sql`${target}.${sql.identifier(column.column)}`
      return [{ key: fieldId, column: value, storage: fieldType(type).storage }]
    })
    await run(
      context,
      logRows(dialect, {
        changeId: sql`${entry.id}`,
        tableId: sql`${how.tableId}`,
        recordId: dialect.logId(key),
        before: sql`null`,
        after: dialect.jsonObject(values),
        source: sql`from ${target} where ${key} between ${from} and ${from + added - 1}`,
      }),
    )
  }
  await writePairs(plan, groups, tools, { changeId: entry.id, isListed: own.isListed })
  return entry.id
}

/** Gives the new records their ids, in the rows and in the links. */
async function numberRows(context: Context, from: number): Promise<void> {
  const { plan, staging } = context
  await run(
    context,
    sql`update ${staging} set ${recordId} = numbered.id, ${state} = ${raw(State.added)}
      from (select ${row} as at, ${from - 1} + row_number() over (order by ${row}) as id
        from ${staging} where ${IS_NEW}) as numbered
      where numbered.at = ${staging}.${row}`,
  )
  if (!plan.columns.some(isLinkColumn)) return
  const links = sql.identifier(linksTableOf(plan.staging))
  for (const side of ['own', 'target'].map((name) => sql.raw(name))) {
    await run(
      context,
      sql`update ${links} set ${side} = s.${recordId} from ${staging} as s
        where ${links}.${side} < 0 and s.${row} = -${links}.${side}`,
    )
  }
}

function ownChanges(context: Context): OwnChanges {
  const { how, options, staging, target } = context
  const isChanged = (id: SQL): SQL => sql`s.${recordId} = ${id} and s.${state} = ${raw(State.changed)}`
  return {
    tableName: how.target,
    tableId: how.tableId,
    idColumn: how.keyColumn,
    stamps: options.stamps,
    cells: cellsOf(context, target).map(({ column, now, next }) => ({
      key: column.fieldId,
      name: column.column,
      storage: fieldType(column.type).storage,
      now,
      next,
    })),
    isOf: isChanged,
    withLinks(after) {
      const marks = linkDifferences(context).map((difference) => markOf(context, difference))
      if (marks.length === 0) return after
      return sql`substr(${after}, 1, length(${after}) - 1) || ${sql.join(marks, sql` || `)} || '}'`
    },
    isListed: (column, record) =>
      sql`exists (select 1 from ${staging} as s where ${isChanged(record)} and ${listsLinks(context, column)})`,
  }
}

/**
 * The change of a link field by row `s`, as a member of the object of logged values in the form of `linkDelta`: webhooks
 * and the history tell by it that the link has changed. Empty if it has not.
 */
function markOf(context: Context, difference: LinkDifference): SQL {
  const { column, gained, lost } = difference
  const ids = (selected: SQL) =>
    sql`coalesce((select string_agg(cast(id as text), ',') from (${selected}) as ids), '')`
  return sql`case when ${changesLinks(context, difference)}
    then ',"' || cast(${column.fieldId} as text) || '":"{\\"linked\\":[' || ${ids(gained)}
      || '],\\"unlinked\\":[' || ${ids(lost)} || ']}"'
    else '' end`
}

import { type SQL, sql } from 'drizzle-orm'
import type { RecordId } from '../../../src/core/model.ts'
import type { Engine, Transaction } from '../../../src/dialects/dialect.ts'
import { ROW_COLUMN, UPDATE_COLUMNS } from '../plan.ts'

/** Columns of the staging table of an import into a connected database. */
export const CONNECTED_COLUMNS = {
  /** A `RowState`; null for a row that is still to be written. */
  state: UPDATE_COLUMNS.state,
  kept: UPDATE_COLUMNS.kept,
  /** A `RowReason`. */
  reason: 'sheaf_reason',
} as const

/** What has become of a row. */
export const RowState = {
  withoutKey: 1,
  repeated: 2,
  ambiguous: 3,
  unknown: 4,
  skipped: 5,
  refused: 6,
  /** Being written: whether that has happened is unknown while the row says so. */
  adding: 7,
  changing: 8,
  unchanged: 9,
  changed: 10,
  added: 11,
  /** The connection was lost while it was written, and the table does not tell whether it is there. */
  uncertain: 12,
  /** Needs a record that another row may add. */
  waiting: 13,
} as const

export type RowState = (typeof RowState)[keyof typeof RowState]

/** States that the report names, with or without a reason. */
const REPORTED_STATES = [
  RowState.withoutKey,
  RowState.repeated,
  RowState.ambiguous,
  RowState.unknown,
  RowState.uncertain,
]

/** States of rows that are in the table. */
const WRITTEN_STATES = [RowState.unchanged, RowState.changed, RowState.added]

/** A row as it was staged: texts by position of the column. */
export interface StagedRow {
  number: number
  texts: (string | null)[]
  state: RowState | null
  /** Positions of columns whose cell was refused. */
  kept: ReadonlySet<number>
  reason: string | null
}

const row = sql.identifier(ROW_COLUMN)
const state = sql.identifier(CONNECTED_COLUMNS.state)
const reason = sql.identifier(CONNECTED_COLUMNS.reason)

/** The staging table of an import, as the record of its progress. */
export function openStagedRows(home: Engine, staging: string, columns: readonly string[]) {
  const { dialect } = home
  const table = sql.identifier(staging)
  const selected = [
    sql`${row} as n`,
    ...columns.map((column, at) => sql`${sql.identifier(column)} as ${sql.raw(`c${at}`)}`),
    sql`${state} as state`,
    sql`${sql.identifier(CONNECTED_COLUMNS.kept)} as kept`,
    sql`${reason} as reason`,
  ]

  async function read(where: SQL, limit: number, direction: 'up' | 'down' = 'up'): Promise<StagedRow[]> {
    const order = direction === 'up' ? sql`${row}` : sql`${row} desc`
    const rows = await home.all<Record<string, string | number | null>>(
      dialect.render(
        sql`select ${sql.join(selected, sql`, `)} from ${table} where ${where} order by ${order} limit ${limit}`,
      ),
    )
    return rows.map((found) => ({
      number: Number(found.n),
      texts: columns.map((_, at) => textOf(found[`c${at}`])),
      state: found.state === null ? null : (Number(found.state) as RowState),
      kept: new Set(
        String(found.kept ?? '')
          .split(',')
          .filter(Boolean)
          .map(Number),
      ),
      reason: textOf(found.reason),
    }))
  }

  const markOne = `update ${dialect.quote(staging)} set ${dialect.quote(CONNECTED_COLUMNS.state)} = ${dialect.placeholder(0)},
    ${dialect.quote(CONNECTED_COLUMNS.reason)} = ${dialect.placeholder(1)}
    where ${dialect.quote(ROW_COLUMN)} = ${dialect.placeholder(2)}`

  /** Gives rows a state: one statement for each run of neighbours, and one batch for single rows. */
  async function mark(tx: Transaction, marks: readonly Mark[]): Promise<void> {
    const sorted = marks.toSorted((a, b) => a.number - b.number)
    const single: unknown[][] = []
    let start = 0
    for (let at = 1; at <= sorted.length; at++) {
      const [first, next] = [sorted[start], sorted[at]]
      if (first && next && next.state === first.state && next.reason === first.reason) continue
      const last = sorted[at - 1]
      if (first && first === last) single.push([first.state, first.reason, first.number])
      else if (first && last) {
        // Rows between them, which the file or the thread has left out, are not there.
        const numbers = sorted.slice(start, at).map(({ number }) => number)
        const isWhole = last.number - first.number + 1 === numbers.length
        const where = isWhole
          ? sql`${row} between ${first.number} and ${last.number}`
          : sql`${row} in (${sql.raw(numbers.join(', '))})`
        await tx.run(
          dialect.render(
            sql`update ${table} set ${state} = ${first.state}, ${reason} = ${first.reason} where ${where}`,
          ),
        )
      }
      start = at
    }
    await tx.runMany(markOne, single)
  }

  return {
    /** Written rows whose links wait until all rows are written, after a number. */
    withLaterLinks: (after: number, limit: number) =>
      read(
        sql`${reason} like ${'{"later"%'} and ${state} in (${sql.raw(WRITTEN_STATES.join(', '))}) and ${row} > ${after}`,
        limit,
      ),
    /** The texts among these that rows have in a column: all rows, or those that are written. */
    async textsIn(
      column: string,
      texts: readonly string[],
      { areWritten }: { areWritten: boolean },
    ): Promise<ReadonlySet<string>> {
      if (texts.length === 0) return new Set()
      const name = sql.identifier(column)
      const among = areWritten ? sql`and ${state} in (${sql.raw(WRITTEN_STATES.join(', '))})` : sql``
      const rows = await home.all<{ text: string }>(
        dialect.render(
          sql`select distinct ${name} as text from ${table} where ${dialect.inList(sql`${name}`, [...texts])} ${among}`,
        ),
      )
      return new Set(rows.map(({ text }) => text))
    },
    /** The first row with each of these texts in a column, rows that are written left out. */
    async unwrittenWith(column: string, texts: readonly string[]): Promise<StagedRow[]> {
      if (texts.length === 0) return []
      const text = sql`trim(${sql.identifier(column)})`
      const first = sql`select min(${row}) from ${table} where ${dialect.inList(text, [...texts])}
        and ${state} not in (${sql.raw(WRITTEN_STATES.join(', '))}) group by ${text}`
      return read(sql`${row} in (${first})`, texts.length)
    },
    /** Waiting rows: the next after a number, or the previous ones before it. Both begin at null. */
    waiting: (from: number | null, limit: number, direction: 'up' | 'down') => {
      const beyond = direction === 'up' ? sql`and ${row} > ${from}` : sql`and ${row} < ${from}`
      return read(sql`${state} = ${RowState.waiting} ${from === null ? sql`` : beyond}`, limit, direction)
    },
    /** Gives waiting rows the state of those that are to be written. */
    resetWaiting: () =>
      home.writeScript([
        dialect.render(sql`update ${table} set ${state} = null where ${state} = ${RowState.waiting}`),
      ]),
    /** Rows to be written after a number. */
    next: (after: number, limit: number) => read(sql`${state} is null and ${row} > ${after}`, limit),
    /** Rows in some states after a number. */
    inStates: (states: readonly RowState[], after: number, limit: number) =>
      read(sql`${state} in (${sql.raw(states.join(', '))}) and ${row} > ${after}`, limit),
    /** Rows that are in the table, after a number. */
    written: (after: number, limit: number) =>
      read(sql`${state} in (${sql.raw(WRITTEN_STATES.join(', '))}) and ${row} > ${after}`, limit),
    /** Rows that the report names, after a number. */
    withProblems: (after: number, limit: number) =>
      read(
        sql`(${reason} is not null or ${state} in (${sql.raw(REPORTED_STATES.join(', '))})) and ${row} > ${after}`,
        limit,
      ),
    /** Gives rows a state, in a transaction of the home that also has the log entry of their change. */
    markIn: mark,
    mark: (marks: readonly Mark[]) =>
      marks.length === 0 ? Promise.resolve() : home.write((tx) => mark(tx, marks)),
    /** Marks rows whose key is empty, or that of an earlier row. */
    async markKeys(keys: readonly string[]): Promise<void> {
      const names = keys.map((key) => sql`${sql.identifier(key)}`)
      const isEmpty = names.map((name) => sql`coalesce(${name}, '') = ''`)
      const places = sql`select ${row} as at, row_number() over (partition by ${sql.join(names, sql`, `)}
        order by ${row}) as place from ${table}`
      await home.writeScript(
        [
          sql`update ${table} set ${state} = ${RowState.withoutKey}
            where ${state} is null and (${sql.join(isEmpty, sql` or `)})`,
          sql`update ${table} set ${state} = ${RowState.repeated} where ${state} is null
            and ${row} in (select at from (${places}) as numbered where place > 1)`,
        ].map((statement) => dialect.render(statement)),
      )
    },
    /** Number of rows by state; those to be written under `null`. */
    async counts(): Promise<ReadonlyMap<RowState | null, number>> {
      const rows = await home.all<{ state: number | null; n: number }>(
        dialect.render(sql`select ${state} as state, count(*) as n from ${table} group by ${state}`),
        { scan: true },
      )
      return new Map(
        rows.map((each) => [each.state === null ? null : (Number(each.state) as RowState), Number(each.n)]),
      )
    },
  }
}

export type StagedRows = ReturnType<typeof openStagedRows>

/** A row's new state. */
export interface Mark {
  number: number
  state: RowState | null
  reason: string | null
}

const textOf = (value: string | number | null | undefined): string | null =>
  value === null || value === undefined ? null : String(value)

/** A cell or row that the report names; without a column, the whole row. */
export interface CellProblem {
  column: string
  value: string
  reason: string
}

/** What the staging table keeps of a row, as its reason. */
interface RowReason {
  /** Set if links of the row are written once all rows are: the row's record; null if it is not known. */
  later?: { id: RecordId | null }
  /** The record of the row, if rows of other imports belong to it. */
  id?: RecordId
  problems?: readonly CellProblem[]
}

export const readReason = (reason: string | null): RowReason =>
  reason === null ? {} : (JSON.parse(reason) as RowReason)

/** Null if there is nothing to keep. */
export const writeReason = ({ later, id, problems = [] }: RowReason): string | null =>
  later === undefined && id === undefined && problems.length === 0
    ? null
    : // `withLaterLinks` finds rows by the first member.
      JSON.stringify({ later, id, problems })

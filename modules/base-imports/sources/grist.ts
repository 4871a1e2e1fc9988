import * as z from 'zod/mini'
import { msToDay, toStored } from '../../../src/core/dates.ts'
import { badRequest } from '../../../src/core/errors.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import { openSqliteFile, type SqliteFile } from '../../../src/db/sqlite-file.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  emptyRecord,
  type SourceCell,
  type SourceConnection,
  type SourceContext,
  type SourceField,
  type SourceRecord,
  type SourceTable,
  sourceNote,
} from '../source.ts'
import { commaNote } from './value-types.ts'

const PAGE_SIZE = 500
const MAX_CHOICES = 10_000

export const gristCredentials = z.strictObject({
  /** A `.grist` file, uploaded like the files of other imports. */
  uploadId: z.string().check(z.regex(/^[a-z0-9]{20}$/)),
})

interface GristColumn {
  id: number
  parentId: number
  colId: string
  label: string | null
  type: string
  isFormula: number
  formula: string | null
  widgetOptions: string | null
  description: string | null
  reverseCol: number | null
}

type Row = Record<string, unknown>
type Widget = Record<string, unknown>

/** How a stored value of Grist becomes a cell. */
interface ValueType {
  type: FieldTypeName
  options: FieldOptions
  cell(value: unknown): SourceCell
}

/**
 * A Grist document, which is an SQLite file: `_grist_Tables` and `_grist_Tables_column` describe the tables that hold the records
 * (https://github.com/gristlabs/grist-core/blob/main/documentation/grist-data-format.md).
 */
export function openGrist(
  { uploadId }: z.output<typeof gristCredentials>,
  { upload }: SourceContext,
): SourceConnection {
  let opened: Promise<{ file: SqliteFile; title: string }> | null = null
  let known = new Map<string, GristColumn[]>()

  async function open(): Promise<{ file: SqliteFile; title: string }> {
    const { path, fileName } = await upload(uploadId)
    const file = openSqliteFile(path)
    if (!file?.tables.has('_grist_Tables') || !file.tables.has('_grist_Tables_column')) {
      file?.close()
      throw badRequest(m.base_imports_error_grist())
    }
    return { file, title: fileName.replace(/\.grist$/i, '') }
  }
  const document = () => {
    opened ??= open()
    return opened
  }

  /** The columns of each table that users see, by the table's name. */
  function describeTables(file: SqliteFile): Map<string, GristColumn[]> {
    const tables = file.all<Row>('select * from _grist_Tables order by id')
    const columns = file
      .all<Row>('select * from _grist_Tables_column order by parentId, parentPos')
      .map(toColumn)
    const shown = tables.filter(
      ({ tableId, summarySourceTable }) =>
        typeof tableId === 'string' &&
        !tableId.startsWith('GristHidden_') &&
        !summarySourceTable &&
        file.tables.has(tableId),
    )
    return new Map(
      shown.map(({ id, tableId }) => [
        String(tableId),
        columns.filter((column) => column.parentId === id && !isHelper(column)),
      ]),
    )
  }

  return {
    async bases() {
      const { title } = await document()
      return [{ id: 'document', title }]
    },

    async describe() {
      const { file, title } = await document()
      known = describeTables(file)
      return {
        title,
        tables: [...known].map(
          ([tableId, columns]): SourceTable => ({
            id: tableId,
            title: tableId.replaceAll('_', ' '),
            description: null,
            primaryFieldId: columns[0] ? String(columns[0].id) : null,
            fields: columns.map((column) => toField(column, known)),
            views: [],
            recordCount: null,
          }),
        ),
        problems: [sourceNote(m.base_imports_note_grist_pages())],
      }
    },

    async records(_baseId, { id: tableId }, cursor) {
      const columns = known.get(tableId)
      if (!columns) throw badRequest(m.base_imports_error_table_gone())
      const { file } = await document()
      const rows = file.all<Row>(
        `select * from ${quoted(tableId)} where id > ? order by id limit ${PAGE_SIZE}`,
        Number(cursor ?? 0),
      )
      const records = rows.map((row): SourceRecord => {
        const record = { ...emptyRecord(String(row.id)), comments: 0 }
        for (const column of columns) {
          const value = row[column.colId] ?? null
          if (column.isFormula && column.formula) record.computed[String(column.id)] = value
          else record.cells[String(column.id)] = cellOf(column, value, file)
        }
        return record
      })
      const last = rows.at(-1)
      return { records, next: rows.length === PAGE_SIZE && last ? String(last.id) : null }
    },

    comments: null,
    close: () => void opened?.then(({ file }) => file.close()).catch(() => undefined),
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const toColumn = (row: Row): GristColumn => ({
  id: Number(row.id),
  parentId: Number(row.parentId),
  colId: String(row.colId),
  label: textIn(row.label),
  type: String(row.type),
  isFormula: Number(row.isFormula ?? 0),
  formula: textIn(row.formula),
  widgetOptions: textIn(row.widgetOptions),
  description: textIn(row.description),
  reverseCol: Number(row.reverseCol ?? 0) || null,
})

/** Columns that Grist keeps for itself. */
const isHelper = ({ colId }: GristColumn): boolean =>
  colId === 'manualSort' || colId.startsWith('gristHelper_')

/** The table that a reference leads to. */
const referenceOf = (type: string): string | null => /^(?:Ref|RefList):(\w{1,200})$/.exec(type)?.[1] ?? null

function toField(column: GristColumn, tables: ReadonlyMap<string, GristColumn[]>): SourceField {
  return {
    id: String(column.id),
    title: column.label || column.colId,
    description: column.description || null,
    plan: planOf(column, tables),
    note: column.type === 'ChoiceList' ? commaNote(titlesIn(widgetOf(column))) : undefined,
  }
}

function planOf(column: GristColumn, tables: ReadonlyMap<string, GristColumn[]>): SourceField['plan'] {
  const value = valueType(column)
  // A formula column without a formula is an empty column.
  if (column.isFormula && column.formula) {
    return {
      as: 'computed',
      group: 'formulas',
      candidates: [],
      dependsOn: [],
      plain: value,
      problem: m.base_imports_reason_python(),
    }
  }
  const tableId = referenceOf(column.type)
  if (tableId === null) return { as: 'stored', type: value.type, options: value.options }
  const related = tables.get(tableId)
  if (!related) return { as: 'skipped', reason: m.base_imports_reason_link_target() }
  const isList = column.type.startsWith('RefList:')
  const reverse = related.find(({ id }) => id === column.reverseCol)
  const isReverseList = reverse?.type.startsWith('RefList:') ?? true
  // A single reference holds the key; of two equal sides the first one.
  const isSecondSide = reverse !== undefined && (isList === isReverseList ? reverse.id < column.id : isList)
  return {
    as: 'link',
    kind: isList ? (isReverseList ? 'mm' : 'hm') : 'bt',
    tableId,
    inverseFieldId: reverse ? String(reverse.id) : null,
    isSecondSide,
  }
}

const parsed = (text: string | null): unknown => (text ? parseJsonOrNull(text) : null)

const widgetOf = ({ widgetOptions }: GristColumn): Widget => (parsed(widgetOptions) ?? {}) as Widget

const scalar = (value: unknown): SourceCell =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null

const asText = (value: unknown): SourceCell => {
  if (value === null || value === undefined) return null
  // Values of other types are marshalled.
  return value instanceof Uint8Array ? null : String(value)
}

/** Seconds since 1970. */
const day = (value: unknown): SourceCell => (typeof value === 'number' ? msToDay(value * 1000) : null)
const instant = (value: unknown): SourceCell =>
  typeof value === 'number' ? toStored(Math.round(value * 1000)) : null

/** A list of Grist, stored as JSON: `["a","b"]`. */
function listIn(value: unknown): unknown[] {
  const list = typeof value === 'string' ? parsed(value) : null
  if (!Array.isArray(list)) return []
  return list[0] === 'L' ? list.slice(1) : list
}

const KINDS: Record<string, (widget: Widget, column: GristColumn) => ValueType> = {
  Text: ({ widget }) =>
    widget === 'HyperLink'
      ? { type: 'SingleLineText', options: {}, cell: asText }
      : { type: 'LongText', options: { rich: widget === 'Markdown' }, cell: asText },
  Numeric: ({ numMode, currency, decimals, maxDecimals }) => {
    const precision = [maxDecimals, decimals].find((one) => typeof one === 'number')
    const fixed = typeof precision === 'number' ? { precision: Math.min(8, precision) } : {}
    if (numMode === 'currency') {
      const code = typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? { code: currency } : {}
      return { type: 'Currency', options: { ...code, ...fixed }, cell: scalar }
    }
    // A percentage is a fraction there.
    if (numMode === 'percent') {
      return {
        type: 'Percent',
        options: fixed,
        cell: (value) => (typeof value === 'number' ? Number((value * 100).toPrecision(15)) : null),
      }
    }
    return {
      type: 'Decimal',
      options: typeof precision === 'number' ? fixed : { precision: null },
      cell: scalar,
    }
  },
  Int: () => ({ type: 'Number', options: {}, cell: scalar }),
  Bool: () => ({ type: 'Checkbox', options: {}, cell: (value) => Boolean(value) }),
  Date: ({ dateFormat }) => ({ type: 'Date', options: formatOf(dateFormat), cell: day }),
  DateTime: ({ dateFormat }, { type }) => {
    const [, zone = ''] = /^DateTime:([\w/+-]{1,60})$/.exec(type) ?? []
    return { type: 'DateTime', options: { ...formatOf(dateFormat), timeZone: zone || 'UTC' }, cell: instant }
  },
  Choice: (widget) => ({ type: 'SingleSelect', options: choicesOf(widget, false), cell: asText }),
  ChoiceList: (widget) => ({
    type: 'MultiSelect',
    options: choicesOf(widget, true),
    cell: (value) =>
      listIn(value)
        .map((one) => String(one).replaceAll(',', ';').trim())
        .join(',') || null,
  }),
  Attachments: () => ({ type: 'Attachment', options: { maxCount: 100 }, cell: () => null }),
}

function valueType(column: GristColumn): ValueType {
  const [kind = ''] = column.type.split(':')
  return KINDS[kind]?.(widgetOf(column), column) ?? { type: 'LongText', options: {}, cell: asText }
}

const FORMATS: Record<string, string> = {
  'YYYY-MM-DD': 'YYYY-MM-DD',
  'MM-DD-YYYY': 'MM-DD-YYYY',
  'DD-MM-YYYY': 'DD-MM-YYYY',
  'MM/DD/YYYY': 'MM/DD/YYYY',
  'DD/MM/YYYY': 'DD/MM/YYYY',
  'DD MMM YYYY': 'DD MMM YYYY',
}
const formatOf = (format: unknown): FieldOptions => ({ format: FORMATS[String(format)] ?? 'YYYY-MM-DD' })

const titlesIn = ({ choices }: Widget): unknown[] =>
  (Array.isArray(choices) ? choices : []).slice(0, MAX_CHOICES)

function choicesOf({ choices, choiceOptions }: Widget, noComma: boolean): FieldOptions {
  const colors = (choiceOptions ?? {}) as Record<string, Widget | undefined>
  const titles = new Set<string>()
  const list = titlesIn({ choices }).flatMap((choice) => {
    const title = String(choice).trim()
    const shown = noComma ? title.replaceAll(',', ';') : title
    if (shown === '' || titles.has(shown)) return []
    titles.add(shown)
    const color = colors[title]?.fillColor
    const isColor = typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color)
    return [{ title: shown, ...(isColor && { color }) }]
  })
  return { choices: list }
}

function cellOf(column: GristColumn, value: unknown, file: SqliteFile): SourceCell {
  if (referenceOf(column.type) !== null) {
    const ids = column.type.startsWith('RefList:') ? listIn(value) : [value]
    return { links: ids.filter((id) => typeof id === 'number' && id > 0).map(String) }
  }
  if (column.type === 'Attachments') return filesOf(listIn(value), file)
  return value === null || value === '' ? null : valueType(column).cell(value)
}

/** The files of a cell, whose content is in the document. */
function filesOf(ids: unknown[], file: SqliteFile): SourceCell {
  const files = ids.flatMap((id) => {
    if (typeof id !== 'number' || !file.tables.has('_grist_Attachments')) return []
    const [row] = file.all<{ fileIdent: string; fileName: string; fileSize: number }>(
      'select fileIdent, fileName, fileSize from _grist_Attachments where id = ?',
      id,
    )
    if (!row) return []
    return [
      {
        id: `${id} ${row.fileIdent}`,
        url: null,
        name: row.fileName,
        size: row.fileSize,
        read: () => contentOf(row.fileIdent, file),
      },
    ]
  })
  return files.length === 0 ? null : { files }
}

async function* contentOf(ident: string, file: SqliteFile): AsyncGenerator<Uint8Array> {
  const [row] = file.tables.has('_gristsys_Files')
    ? file.all<{ data: Uint8Array | null }>('select data from _gristsys_Files where ident = ?', ident)
    : []
  // Documents with external storage have the files elsewhere.
  if (!row?.data) throw badRequest(m.base_imports_reason_file_address())
  yield row.data
}

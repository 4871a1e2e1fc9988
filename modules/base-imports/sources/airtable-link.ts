import * as z from 'zod/mini'
import type { ImportProblem } from '../../../src/core/base-imports.ts'
import { badRequest } from '../../../src/core/errors.ts'
import type { Condition } from '../../../src/core/filters/filter.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import { isTabular } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type SourceConnection,
  type SourceContext,
  type SourceTable,
  type SourceView,
  sourceNote,
} from '../source.ts'
import { toRecord } from './airtable.ts'
import { type AirtableFields, createAirtableFields } from './airtable-fields.ts'
import {
  applicationAnswer,
  type LinkColumn,
  type LinkRow,
  type LinkTable,
  type LinkView,
  viewAnswer,
} from './airtable-link-types.ts'
import type { AirtableField, AirtableTable } from './airtable-types.ts'
import { createJsonClient } from './json-client.ts'
import { isRecord, type Options } from './value-types.ts'
import { filterOf, NO_COUNTERPART, viewKindOf } from './view-settings.ts'

const PRODUCT = 'Airtable'
/** Largest page of a link, without its data. */
const MAX_PAGE_BYTES = 16 * 1024 ** 2
const PAGE_TIMEOUT_MS = 60_000
const PAGE_SIZE = 500

export const airtableLinkCredentials = z.strictObject({
  link: z.string().check(z.trim(), z.minLength(1), z.maxLength(2000)),
})

/** What the page of a link tells about where its data are. */
interface SharedPage {
  address: string
  headers: [string, string][]
}

/**
 * A base or view that is shared by a link (`https://airtable.com/appXXX/shrXXX`), read as its page does. The page names the address of
 * the data with the access policy of the link; these answers are not documented and may change.
 */
export function openAirtableLink(
  { link }: z.output<typeof airtableLinkCredentials>,
  { http, signal, airtablePerSecond }: SourceContext,
): SourceConnection {
  const client = createJsonClient({
    http,
    product: PRODUCT,
    perSecond: airtablePerSecond,
    signal,
    explain,
  })
  let page: Promise<SharedPage> | null = null
  let known: {
    fields: AirtableFields
    tables: Map<string, { table: LinkTable; shown: AirtableTable }>
  } | null = null
  /** The records of the table that is being read. */
  let rows: { tableId: string; rows: LinkRow[] } | null = null

  async function readPage(): Promise<SharedPage> {
    const answer = await http.get(link, { maxBytes: MAX_PAGE_BYTES, timeoutMs: PAGE_TIMEOUT_MS, signal })
    const chunks = await Array.fromAsync(answer.body)
    const html = Buffer.concat(chunks).toString('utf8')
    const [, quoted = null] =
      /urlWithParams:\s{0,9}"([^"]{1,20000})"/.exec(html) ??
      /fetch\("(\\u002F[^"]{1,20000})"/.exec(html) ??
      []
    if (quoted === null) throw badRequest(m.base_imports_error_airtable_link())
    const path = parseJsonOrNull(`"${quoted}"`)
    if (typeof path !== 'string' || !URL.canParse(path, answer.url))
      throw badRequest(m.base_imports_error_airtable_link())
    return { address: new URL(path, answer.url).href, headers: headersIn(html) }
  }

  /** The answer to the request that the page makes, with other parameters. */
  async function read<T>(schema: z.ZodMiniType<T>, parameters: Options): Promise<T> {
    page ??= readPage()
    const { address, headers } = await page
    const url = new URL(address)
    const given = parseJsonOrNull(url.searchParams.get('stringifiedObjectParams') ?? '{}') as Options | null
    const { allowMsgpackOfResult: _, ...kept } = given ?? {}
    const all = { ...kept, ...parameters, shouldUseNestedResponseFormat: true }
    url.searchParams.set('stringifiedObjectParams', JSON.stringify(all))
    return client.get(url.href, schema, { headers })
  }

  const isView = async (): Promise<boolean> => {
    page ??= readPage()
    return (await page).address.includes('/readSharedViewData')
  }

  async function tablesOfLink(): Promise<LinkTable[]> {
    if (await isView()) {
      const { table } = (await read(viewAnswer, {})).data
      rows = { tableId: table.id, rows: table.rows ?? [] }
      return [table]
    }
    return (await read(applicationAnswer, {})).data.tableSchemas
  }

  async function rowsOf(table: LinkTable): Promise<LinkRow[]> {
    if (rows?.tableId === table.id) return rows.rows
    if (await isView()) return (await tablesOfLink())[0]?.rows ?? []
    const { data } = await read(applicationAnswer, { includeDataForTableIds: [table.id] })
    rows = { tableId: table.id, rows: data.tableDatas.find(({ id }) => id === table.id)?.rows ?? [] }
    return rows.rows
  }

  /** The views of a base have their settings in the data of their table. */
  async function viewsOf(table: LinkTable): Promise<LinkView[]> {
    if (await isView()) return table.views
    const includeDataForViewIds = table.views.map(({ id }) => id)
    if (includeDataForViewIds.length === 0) return []
    const { data } = await read(applicationAnswer, {
      includeDataForTableIds: [table.id],
      includeDataForViewIds,
    })
    const found = data.tableDatas.find(({ id }) => id === table.id)
    rows = { tableId: table.id, rows: found?.rows ?? [] }
    const settings = new Map((found?.viewDatas ?? []).map((view) => [view.id, view]))
    return table.views.map((view) => ({
      ...view,
      ...settings.get(view.id),
      name: view.name,
      type: view.type,
      personalForUserId: view.personalForUserId,
    }))
  }

  return {
    async bases() {
      page ??= readPage()
      const { pathname } = new URL((await page).address)
      const [, id = 'shared'] = /\/(app\w{1,60}|viw\w{1,60})\//.exec(`${pathname}/`) ?? []
      const [first] = await tablesOfLink()
      return [{ id, title: first?.name ?? id }]
    },

    async describe() {
      const tables = await tablesOfLink()
      const shown = tables.map(toApiTable)
      const fields = createAirtableFields(shown)
      known = {
        fields,
        tables: new Map(tables.map((table, index) => [table.id, { table, shown: shown[index]! }])),
      }
      const described: SourceTable[] = []
      for (const [index, table] of tables.entries()) {
        const views = await viewsOf(table)
        described.push({
          id: table.id,
          title: table.name,
          description: table.description ?? null,
          primaryFieldId: table.primaryColumnId ?? null,
          fields: shown[index]!.fields.map((field) => fields.toField(shown[index]!, field)),
          views: views.map((view) => toView(view, table)),
          recordCount: null,
        })
      }
      const problems = [sourceNote(m.base_imports_note_airtable_link()), ...tables.flatMap(notesOn)]
      return { title: '', tables: described, problems }
    },

    async records(_baseId, { id }, cursor) {
      const entry = known?.tables.get(id)
      if (!known || !entry) throw badRequest(m.base_imports_error_table_gone())
      const { fields } = known
      const all = await rowsOf(entry.table)
      const from = Number(cursor ?? 0)
      const records = all.slice(from, from + PAGE_SIZE).map((row) =>
        toRecord(fields, entry.shown, {
          id: row.id,
          createdTime: row.createdTime,
          fields: Object.fromEntries(
            entry.table.columns.map((column) => [
              column.id,
              toApiValue(column, row.cellValuesByColumnId?.[column.id] ?? null),
            ]),
          ),
          commentCount: 0,
        }),
      )
      const next = from + PAGE_SIZE
      return { records, next: next < all.length ? String(next) : null }
    },

    comments: null,
  }
}

function explain(status: number): Error | null {
  return status === 401 || status === 403 || status === 404
    ? badRequest(m.base_imports_error_airtable_link())
    : null
}

const HEADERS = 'var headers = '

/** The headers that the page sends with its request, such as `x-airtable-application-id`. */
function headersIn(html: string): [string, string][] {
  const from = html.indexOf(HEADERS)
  const to = from < 0 ? -1 : html.indexOf('}', from)
  const text = to < 0 ? '{}' : html.slice(from + HEADERS.length, to + 1)
  const found = parseJsonOrNull(text)
  const given = typeof found === 'object' && found !== null ? (found as Options) : {}
  const own = Object.entries(given).flatMap(([name, value]) =>
    /^x-[a-z-]{1,60}$/i.test(name) && typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
  return [
    ...own,
    ['x-time-zone', 'UTC'],
    ['x-user-locale', 'en'],
    ['x-requested-with', 'XMLHttpRequest'],
  ].filter(
    ([name], index, all) =>
      all.findIndex(([other]) => other?.toLowerCase() === name?.toLowerCase()) === index,
  ) as [string, string][]
}

const toApiTable = (table: LinkTable): AirtableTable => ({
  id: table.id,
  name: table.name,
  description: table.description,
  primaryFieldId: table.primaryColumnId,
  fields: table.columns.map(toApiField),
  views: [],
})

const NUMBER_FORMATS: Record<string, string> = {
  currency: 'currency',
  percent: 'percent',
  percentV2: 'percent',
  duration: 'duration',
}

/** Types of the page by the names of the API; the others have the same or are listed in `toApiField`. */
const TYPES: Record<string, string> = {
  multilineText: 'multilineText',
  richText: 'richText',
  select: 'singleSelect',
  multiSelect: 'multipleSelects',
  checkbox: 'checkbox',
  rating: 'rating',
  phone: 'phoneNumber',
  multipleAttachment: 'multipleAttachments',
  foreignKey: 'multipleRecordLinks',
  lookup: 'multipleLookupValues',
  rollup: 'rollup',
  count: 'count',
  formula: 'formula',
  autoNumber: 'autoNumber',
  collaborator: 'singleCollaborator',
  multiCollaborator: 'multipleCollaborators',
  barcode: 'barcode',
  button: 'button',
}

/** A column of the page as the API describes it. */
function toApiField({ id, name, type, description, typeOptions }: LinkColumn): AirtableField {
  const options = typeOptions ?? {}
  const field = (apiType: string, apiOptions: Options = {}): AirtableField => ({
    id,
    name,
    type: apiType,
    description,
    options: apiOptions,
  })
  switch (type) {
    case 'text': {
      const { validatorName } = options
      return field(validatorName === 'url' ? 'url' : validatorName === 'email' ? 'email' : 'singleLineText')
    }
    case 'number':
      return field(NUMBER_FORMATS[String(options.format)] ?? 'number', options)
    case 'date':
      return options.isDateTime === true
        ? field('dateTime', dateOptions(options))
        : field('date', dateOptions(options))
    case 'select':
    case 'multiSelect':
      return field(TYPES[type]!, { choices: choicesIn(options) })
    case 'foreignKey':
      return field('multipleRecordLinks', {
        linkedTableId: options.foreignTableId,
        inverseLinkFieldId: options.symmetricColumnId,
      })
    case 'lookup':
    case 'rollup':
    case 'count':
      return field(TYPES[type]!, {
        recordLinkFieldId: options.relationColumnId,
        fieldIdInLinkedTable: options.foreignTableRollupColumnId,
        // The page has the aggregation, which the API keeps to itself.
        formula: options.formulaTextParsed,
        isValid: true,
        result: resultIn(options),
      })
    case 'formula':
      return formulaField(field, options)
    default:
      return field(TYPES[type] ?? type, options)
  }
}

/** Formulas, and the creation time, which is one of them there. */
function formulaField(
  field: (type: string, options: Options) => AirtableField,
  options: Options,
): AirtableField {
  const text = String(options.formulaTextParsed ?? '')
  const result = resultIn(options)
  if (/^\s{0,9}CREATED_TIME\(\)\s{0,9}$/.test(text)) return field('createdTime', { result })
  if (/^\s{0,9}LAST_MODIFIED_TIME\(/.test(text)) return field('lastModifiedTime', { result })
  return field('formula', {
    formula: text
      .replace(/column_value_(fld\w{1,60})/g, '{$1}')
      .replace(/\{\{/g, '{')
      .replace(/\}\}/g, '}'),
    isValid: true,
    result,
  })
}

function resultIn(options: Options): Options | null {
  const type = options.resultType
  if (type === 'number') return { type: NUMBER_FORMATS[String(options.format)] ?? 'number', options }
  if (type === 'date')
    return { type: options.isDateTime === true ? 'dateTime' : 'date', options: dateOptions(options) }
  return typeof type === 'string' ? { type: TYPES[type] ?? 'singleLineText', options: {} } : null
}

const dateOptions = ({ dateFormat, timeFormat, timeZone }: Options): Options => ({
  dateFormat: { name: String(dateFormat ?? '').toLowerCase() },
  timeFormat: { name: timeFormat },
  timeZone,
})

function choicesIn({ choices, choiceOrder }: Options): Options[] {
  const byId = (choices ?? {}) as Record<string, Options>
  const order = Array.isArray(choiceOrder) ? choiceOrder.map(String) : Object.keys(byId)
  return order.map((id) => byId[id]).filter((choice) => choice !== undefined)
}

/** A value of the page as the API gives it. */
function toApiValue({ type, typeOptions }: LinkColumn, value: unknown): unknown {
  if (value === null) return null
  const nameOf = (id: unknown) => {
    const choice = ((typeOptions?.choices ?? {}) as Record<string, Options>)[String(id)]
    return choice?.name ?? String(id)
  }
  switch (type) {
    case 'select':
      return nameOf(value)
    case 'multiSelect':
      return Array.isArray(value) ? value.map(nameOf) : null
    case 'foreignKey':
      return Array.isArray(value) ? value.map((one) => (one as Options | null)?.foreignRowId ?? one) : null
    case 'lookup': {
      const { valuesByForeignRowId, foreignRowIdOrder } = value as Options
      const byId = (valuesByForeignRowId ?? {}) as Options
      const order = Array.isArray(foreignRowIdOrder) ? foreignRowIdOrder.map(String) : Object.keys(byId)
      return order.flatMap((id) => byId[id])
    }
    default:
      return value
  }
}

/** Operators of the page's filters by ours. */
const OPERATORS: Record<string, string> = {
  '=': 'eq',
  '!=': 'neq',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
  contains: 'like',
  doesNotContain: 'nlike',
  isEmpty: 'blank',
  isNotEmpty: 'notblank',
  isAnyOf: 'anyof',
  isNoneOf: 'nanyof',
  '|': 'anyof',
  '&': 'allof',
}

/** Remarks on what a table has and tables here do not. */
function notesOn({ name: title, viewSectionsById, externalTableSyncById }: LinkTable): ImportProblem[] {
  const sections = Object.values(viewSectionsById ?? {}).flatMap((section) =>
    isRecord(section) && typeof section.name === 'string' ? [section.name] : [],
  )
  const isSynced = Object.keys(externalTableSyncById ?? {}).length > 0
  return [
    ...(sections.length > 0
      ? [
          sourceNote(
            m.base_imports_note_view_sections({ sections: sections.join(', ').slice(0, 300) }),
            title,
          ),
        ]
      : []),
    ...(isSynced ? [sourceNote(m.base_imports_note_synced_table(), title)] : []),
  ]
}

function toView(view: LinkView, table: LinkTable): SourceView {
  const notes: string[] = []
  const kind = viewKindOf(view.type ?? 'grid', notes)
  if (view.personalForUserId) notes.push(m.base_imports_note_personal_view())
  const columns = new Map(table.columns.map((column) => [column.id, column]))
  const order = view.columnOrder ?? []
  const { type: colorType, selectColumnId } = view.colorConfig ?? {}
  const visible = order.filter(({ visibility }) => visibility !== false).map(({ columnId }) => columnId)
  const isColoredBySelect = colorType === 'selectColumn' && typeof selectColumnId === 'string'
  if (colorType && colorType !== 'none' && !isColoredBySelect) notes.push(m.base_imports_note_color_rules())
  if (!isTabular({ kind })) notes.push(m.base_imports_note_kind_settings())
  return {
    id: view.id,
    title: view.name ?? table.name,
    kind,
    visible: order.length === 0 ? null : visible,
    widths: Object.fromEntries(order.flatMap(({ columnId, width }) => (width ? [[columnId, width]] : []))),
    filter: filterOf(view.filters, (condition) => toCondition(condition, columns), notes),
    sorts: (view.lastSortsApplied?.sortSet ?? []).map(({ columnId, ascending }) => ({
      fieldId: columnId,
      direction: ascending === false ? 'desc' : 'asc',
    })),
    groups: (view.groupLevels ?? []).map((level) => ({
      fieldId: level.columnId,
      direction: level.order === 'descending' ? 'desc' : 'asc',
    })),
    coloring: isColoredBySelect ? { mode: 'select', fieldId: selectColumnId, isBackground: false } : null,
    notes,
  }
}

function toCondition(
  { columnId, operator: name, value: given }: Options,
  columns: ReadonlyMap<string, LinkColumn>,
): Condition | typeof NO_COUNTERPART {
  const column = columns.get(String(columnId))
  const operator = OPERATORS[String(name)]
  const value = column ? filterValue(column, given) : undefined
  if (!column || !operator || value === undefined) return NO_COUNTERPART
  return {
    fieldId: column.id,
    operator: ofCheckbox(column, operator, value),
    value: column.type === 'checkbox' ? null : value,
  }
}

const ofCheckbox = ({ type }: LinkColumn, operator: string, value: unknown): string =>
  type === 'checkbox' ? ((value === true) === (operator === 'eq') ? 'checked' : 'notchecked') : operator

/** A value of a filter: options by their names; undefined for one without a counterpart. */
function filterValue(column: LinkColumn, value: unknown): string | number | boolean | null | undefined {
  if (value === null || value === undefined || value === '') return null
  if (column.type === 'select' || column.type === 'multiSelect') {
    const list = (Array.isArray(value) ? value : [value]).map((id) =>
      String(toApiValue({ ...column, type: 'select' }, id)),
    )
    return list.join(',')
  }
  return typeof value === 'object' ? undefined : (value as string | number | boolean)
}

import * as z from 'zod/mini'
import { badRequest } from '../../../src/core/errors.ts'
import type { Condition, DateOperand } from '../../../src/core/filters/filter.ts'
import type { RowHeight, Sort } from '../../../src/core/model.ts'
import { trimTrailing } from '../../../src/core/trim-characters.ts'
import { type RowColoring, viewKind } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  MAX_PAGES,
  type SourceComment,
  type SourceConnection,
  type SourceContext,
  type SourcePerson,
  type SourceRecord,
  type SourceTable,
  type SourceView,
  sourceNote,
} from '../source.ts'
import { type BaserowFields, choicesById, createBaserowFields, fieldKey } from './baserow-fields.ts'
import {
  type BaserowComment,
  type BaserowConditions,
  type BaserowField,
  type BaserowRow,
  type BaserowTable,
  type BaserowView,
  baserowApplication,
  baserowApplications,
  baserowComments,
  baserowConditions,
  baserowFieldOptions,
  baserowFields,
  baserowRowMetadata,
  baserowRows,
  baserowSession,
  baserowTables,
  baserowViews,
  baserowWorkspaces,
} from './baserow-types.ts'
import { createJsonClient, type Header, SourceRejection } from './json-client.ts'
import { choiceTitles, isRecord, namedColor, type Options } from './value-types.ts'
import { filterOf, NO_COUNTERPART, optionsOfKind, viewKindOf } from './view-settings.ts'

const PRODUCT = 'Baserow'
/** The hosted version allows ten requests at the same time; these are one after another. */
const PER_SECOND = 50
/** The most that the API gives. */
const PAGE_SIZE = 200
const COMMENTS_PAGE = 100
/** Most pages of the comments of a row. */
const MAX_LIST_PAGES = 100

const text = (max: number) => z.string().check(z.trim(), z.minLength(1), z.maxLength(max))

/** Address of an instance, with a database token or an account. */
export const baserowCredentials = z.union([
  z.strictObject({ address: text(2000), token: text(2000) }),
  z.strictObject({
    address: text(2000),
    email: text(500),
    password: z.string().check(z.minLength(1), z.maxLength(500)),
  }),
])

/** The API's address of an instance; that of the hosted version is another than that of its pages. */
function apiOf(address: string): string {
  const root = trimTrailing(address, '/').replace(/\/api$/, '')
  return `${root.replace(/^https:\/\/(?:www\.)?baserow\.io$/, 'https://api.baserow.io')}/api`
}

/**
 * A running instance of Baserow (https://baserow.io/docs/apis/rest-api). A database token reads tables, fields and rows; an account also
 * reads the titles of databases, views, people and comments.
 */
export function openBaserow(
  credentials: z.output<typeof baserowCredentials>,
  { http, signal }: SourceContext,
): SourceConnection {
  const api = apiOf(credentials.address)
  const hasAccount = !('token' in credentials)
  const client = createJsonClient({
    http,
    product: PRODUCT,
    signIn: {
      // Sessions of accounts last ten minutes.
      expires: hasAccount,
      async header(send): Promise<Header> {
        if ('token' in credentials) return ['authorization', `Token ${credentials.token}`]
        const { email, password } = credentials
        const request = { method: 'POST', body: { email, password } } as const
        const session = await send(`${api}/user/token-auth/`, baserowSession, request)
        const token = session.access_token ?? session.token
        if (session.two_factor_auth || !token) throw badRequest(m.base_imports_error_baserow_second_factor())
        return ['authorization', `JWT ${token}`]
      },
    },
    perSecond: PER_SECOND,
    signal,
    explain,
  })
  let known: {
    fields: BaserowFields
    tables: ReadonlyMap<string, BaserowTable>
    people: ReadonlyMap<number, SourcePerson>
    givesComments: boolean
  } | null = null
  /** Numbers of comments by row, of the table that is being read; null if the server does not tell them. */
  let counted: { tableId: string; counts: ReadonlyMap<string, number> | null } | null = null

  const get = <T>(path: string, schema: z.ZodMiniType<T>): Promise<T> => client.get(`${api}${path}`, schema)

  /** The tables of a database by its id. */
  async function tablesOf(databaseId: string): Promise<{ title: string; tables: TableRef[] }> {
    if (hasAccount) {
      const path = `/applications/${encodeURIComponent(databaseId)}/`
      const { name, tables } = await get(path, baserowApplication)
      return { title: name, tables: tables ?? [] }
    }
    const all = await get('/database/tables/all-tables/', baserowTables)
    const tables = all.filter((table) => String(table.database_id) === databaseId)
    if (tables.length === 0) throw badRequest(m.base_imports_error_baserow_database())
    return { title: '', tables }
  }

  async function readTable({ id, name }: TableRef): Promise<BaserowTable> {
    const fields = await get(`/database/fields/table/${id}/`, baserowFields)
    if (!hasAccount) return { id, name, fields, views: [] }
    const include = 'include=filters,sortings,group_bys,decorations'
    const found = await get(`/database/views/table/${id}/?${include}`, baserowViews)
    const views: BaserowTable['views'] = []
    for (const view of found.toSorted(byOrder)) {
      const { field_options } = await get(`/database/views/${view.id}/field-options/`, baserowFieldOptions)
      views.push({ view, fieldOptions: field_options })
    }
    return { id, name, fields, views }
  }

  async function readPeople(): Promise<Map<number, SourcePerson>> {
    if (!hasAccount) return new Map()
    const workspaces = await get('/workspaces/', baserowWorkspaces)
    return new Map(
      workspaces
        .flatMap(({ users }) => users ?? [])
        .map(({ user_id, name, email }) => [user_id, { name: name ?? null, email: email ?? null }]),
    )
  }

  const rowsPath = (tableId: string, page: number, size = PAGE_SIZE) =>
    `/database/rows/table/${tableId}/?page=${page}&size=${size}`
  const commentsPath = (tableId: string, rowId: string, page: number) =>
    `/row_comments/${tableId}/${rowId}/?page=${page}&size=${COMMENTS_PAGE}`

  /** True if the server gives comments, which only some of its editions have. */
  async function findComments(tables: readonly BaserowTable[]): Promise<boolean> {
    if (!hasAccount) return false
    for (const { id } of tables) {
      const [row] = (await get(rowsPath(String(id), 1, 1), baserowRows)).results
      if (!row) continue
      try {
        await get(commentsPath(String(id), String(row.id), 1), baserowComments)
        return true
      } catch (error) {
        if (error instanceof SourceRejection) return false
        throw error
      }
    }
    return true
  }

  /** Counts the comments of all rows by the metadata of a grid that shows all of them; null if the table has none such. */
  async function countComments({ views }: BaserowTable): Promise<Map<string, number> | null> {
    const grid = views.find(
      ({ view: { type, filters, filters_disabled } }) =>
        type === 'grid' && (filters_disabled || (filters ?? []).length === 0),
    )
    if (!grid) return null
    const counts = new Map<string, number>()
    for (let page = 1; page <= MAX_PAGES; page++) {
      const query = `include=row_metadata&page=${page}&size=${PAGE_SIZE}`
      const answer = await get(`/database/views/grid/${grid.view.id}/?${query}`, baserowRowMetadata)
      if (!answer.row_metadata) return null
      for (const [rowId, { row_comment_count: count }] of Object.entries(answer.row_metadata)) {
        if (count) counts.set(rowId, count)
      }
      if (!answer.next) break
    }
    return counts
  }

  return {
    async bases() {
      if (hasAccount) {
        const found = await get('/applications/', baserowApplications)
        const databases = found.filter(({ type }) => type === 'database')
        return databases.map(({ id, name }) => ({ id: String(id), title: name }))
      }
      const all = await get('/database/tables/all-tables/', baserowTables)
      return [...Map.groupBy(all, (table) => table.database_id)].map(([id, tables]) => ({
        id: String(id),
        title: m.base_imports_database({
          id,
          tables: tables
            .map(({ name }) => name)
            .join(', ')
            .slice(0, 200),
        }),
      }))
    },

    async describe(databaseId) {
      const { title, tables: refs } = await tablesOf(databaseId)
      const people = await readPeople()
      const tables: BaserowTable[] = []
      for (const ref of refs.toSorted(byOrder)) tables.push(await readTable(ref))
      const fields = createBaserowFields(tables, people)
      const givesComments = await findComments(tables)
      known = {
        fields,
        people,
        givesComments,
        tables: new Map(tables.map((table) => [String(table.id), table])),
      }
      const note = !hasAccount
        ? m.base_imports_note_database_token()
        : givesComments
          ? null
          : m.base_imports_note_no_comments()
      return {
        title,
        tables: tables.map((table): SourceTable => {
          const primary = table.fields.find((field) => field.primary)
          return {
            id: String(table.id),
            title: table.name,
            description: null,
            primaryFieldId: primary ? fieldKey(primary.id) : null,
            fields: table.fields.map((field) => fields.toField(table, field)),
            views: table.views.map((view) => toView(view, table)),
            recordCount: null,
          }
        }),
        problems: note === null ? [] : [sourceNote(note)],
      }
    },

    async records(_databaseId, { id }, cursor) {
      const table = known?.tables.get(id)
      if (!known || !table) throw badRequest(m.base_imports_error_table_gone())
      const { fields, givesComments } = known
      const page = Number(cursor ?? 1)
      const { results, next } = await get(rowsPath(id, page), baserowRows)
      if (givesComments && counted?.tableId !== id) {
        counted = { tableId: id, counts: await countComments(table) }
      }
      const records = results.map((row): SourceRecord => {
        const record = toRecord(table, fields, row)
        const counts = counted?.tableId === id ? counted.counts : null
        return { ...record, comments: givesComments ? counts && (counts.get(record.id) ?? 0) : 0 }
      })
      return { records, next: next ? String(page + 1) : null }
    },

    comments: hasAccount
      ? async (_databaseId, tableId, rowId): Promise<SourceComment[]> => {
          const found: BaserowComment[] = []
          for (let page = 1; page <= MAX_LIST_PAGES; page++) {
            const { results, next } = await get(commentsPath(tableId, rowId, page), baserowComments)
            found.push(...results)
            if (!next) break
          }
          const comments = found.map(
            ({ id, user_id: userId, first_name: name, message, comment, created_on }): SourceComment => ({
              id: String(id),
              author: known?.people.get(Number(userId)) ?? { email: null, name: name ?? null },
              text: comment ?? documentText(message),
              createdAt: created_on,
            }),
          )
          // Deleted comments have no text.
          return comments.filter(({ text }) => text !== '')
        }
      : null,
  }
}

interface TableRef {
  id: number
  name: string
  order?: number | null | undefined
}

const byOrder = (a: { order?: number | null | undefined }, b: { order?: number | null | undefined }) =>
  (a.order ?? 0) - (b.order ?? 0)

function explain(status: number, body: unknown): Error | null {
  const { error, detail } = isRecord(body) ? body : {}
  // A session that has expired is renewed before this is asked.
  if (status === 401) return badRequest(m.base_imports_error_baserow_credentials())
  const message = [detail, error].find((one) => typeof one === 'string')
  return message === undefined
    ? null
    : new SourceRejection(
        status,
        m.base_imports_error_status({ product: PRODUCT, status: String(message).slice(0, 300) }),
      )
}

/** The text of a comment: a document of paragraphs with mentions. */
function documentText(node: unknown): string {
  if (!isRecord(node)) return ''
  if (node.type === 'text') return String(node.text ?? '')
  if (node.type === 'mention') return `@${String(isRecord(node.attrs) ? (node.attrs.label ?? '') : '')}`
  if (node.type === 'hardBreak') return '\n'
  const children = Array.isArray(node.content) ? node.content : []
  return children.map(documentText).join(node.type === 'doc' ? '\n' : '')
}

function toRecord(table: BaserowTable, fields: BaserowFields, row: BaserowRow): SourceRecord {
  const record: SourceRecord = {
    id: String(row.id),
    createdAt: null,
    createdBy: null,
    cells: {},
    computed: {},
    comments: null,
  }
  for (const field of table.fields) {
    const key = fieldKey(field.id)
    const value = row[key]
    if (fields.isComputed(field)) record.computed[key] = fields.computedValue(field, value)
    else record.cells[key] = fields.cellOf(field, value)
    if (field.type === 'created_on' && typeof value === 'string') record.createdAt ??= value
    if (field.type === 'created_by') record.createdBy = fields.personOf(value)
  }
  return record
}

const levels = (list: readonly { field: number; order?: string | null | undefined }[] | null | undefined) =>
  (list ?? []).map(
    ({ field, order }): Sort => ({
      fieldId: fieldKey(field),
      direction: order?.toUpperCase() === 'DESC' ? 'desc' : 'asc',
    }),
  )

/** Sizes of rows; the smallest is the default here. */
const HEIGHTS: Record<string, RowHeight> = { medium: 'medium', large: 'tall' }

function toView({ view, fieldOptions }: BaserowTable['views'][number], table: BaserowTable): SourceView {
  const notes: string[] = []
  const kind = viewKindOf(view.type, notes)
  const { collectsAnswers } = viewKind(kind)
  const byId = new Map(table.fields.map((field) => [field.id, field]))
  const shownOptions = (id: number) => fieldOptions[String(id)]
  const ordered = table.fields.toSorted(
    (a, b) =>
      Number(b.primary ?? false) - Number(a.primary ?? false) ||
      (shownOptions(a.id)?.order ?? 0) - (shownOptions(b.id)?.order ?? 0),
  )
  const isShown = ({ id, primary }: BaserowField) => {
    const { hidden, enabled } = shownOptions(id) ?? {}
    return collectsAnswers ? enabled === true : primary === true || hidden !== true
  }
  if (collectsAnswers) notes.push(m.base_imports_note_form())
  const isOff = view.filters_disabled === true && (view.filters ?? []).length > 0
  if (isOff) notes.push(m.base_imports_note_filter_off())
  const rowHeight = HEIGHTS[String(view.row_height_size)]
  const { card_cover_image_field: cover, single_select_field: stack, date_field: date } = view
  return {
    id: String(view.id),
    title: view.name,
    kind,
    visible: ordered.filter(isShown).map(({ id }) => fieldKey(id)),
    widths: Object.fromEntries(
      Object.entries(fieldOptions).flatMap(([id, { width }]) => (width ? [[fieldKey(id), width]] : [])),
    ),
    filter: isOff ? null : conditionsOf(view, view.filter_type, byId, notes),
    sorts: levels(view.sortings),
    groups: levels(view.group_bys),
    coloring: coloringOf(view, byId, notes),
    ...(rowHeight !== undefined && { rowHeight }),
    ...optionsOfKind(kind, {
      stackFieldId: stack ? fieldKey(stack) : null,
      coverFieldId: cover ? fieldKey(cover) : null,
      ranges: date ? [{ fromFieldId: fieldKey(date), toFieldId: null }] : null,
    }),
    notes,
  }
}

/** Conditions as a filter: each names its group, and each group the one around it. */
function conditionsOf(
  { filters, filter_groups: groups }: BaserowConditions,
  conjunction: unknown,
  byId: ReadonlyMap<number, BaserowField>,
  notes: string[],
) {
  const inGroup = (id: unknown, join: unknown, depth: number): Options => ({
    conjunction: join,
    filterSet: [
      ...(filters ?? []).filter(({ group }) => (group ?? null) === id),
      ...(groups ?? [])
        .filter(({ parent_group: parent }) => (parent ?? null) === id && depth < MAX_GROUPS)
        .map((group) => inGroup(group.id, group.filter_type, depth + 1)),
    ],
  })
  return filterOf(inGroup(null, conjunction, 0), (condition) => toCondition(condition, byId), notes)
}

/** Deepest groups that are looked at; the filter is cut before. */
const MAX_GROUPS = 10

/** Colours by the options of a select or by conditions: the first decoration counts. */
function coloringOf(
  { decorations }: BaserowView,
  byId: ReadonlyMap<number, BaserowField>,
  notes: string[],
): RowColoring | null {
  const [decoration, ...others] = decorations ?? []
  if (!decoration) return null
  if (others.length > 0) notes.push(m.base_imports_note_colors())
  const isBackground = decoration.type === 'background_color'
  const { field_id: fieldId, colors } = decoration.value_provider_conf ?? {}
  if (decoration.value_provider_type === 'single_select_color' && typeof fieldId === 'number')
    return { mode: 'select', fieldId: fieldKey(fieldId), isBackground }
  if (decoration.value_provider_type !== 'conditional_color' || !Array.isArray(colors)) return null
  const rules = colors.filter(isRecord).flatMap((rule) => {
    const conditions = baserowConditions.safeParse(rule)
    const filter = conditions.success && conditionsOf(conditions.data, rule.operator, byId, notes)
    const color = namedColor(rule.color)
    if (!filter || color === undefined) {
      notes.push(m.base_imports_note_condition())
      return []
    }
    return [{ color, isBackground, filter }]
  })
  return rules.length === 0 ? null : { mode: 'filter', rules: rules.slice(0, 20) }
}

/** Operators with one value by ours. */
const OPERATORS: Record<string, string> = {
  equal: 'eq',
  not_equal: 'neq',
  contains: 'like',
  contains_not: 'nlike',
  higher_than: 'gt',
  higher_than_or_equal: 'gte',
  lower_than: 'lt',
  lower_than_or_equal: 'lte',
}
/** Operators on the options of selects, which they name by ids. */
const OF_CHOICES: Record<string, string> = {
  single_select_equal: 'eq',
  single_select_not_equal: 'neq',
  single_select_is_any_of: 'anyof',
  single_select_is_none_of: 'nanyof',
  multiple_select_has: 'anyof',
  multiple_select_has_not: 'nanyof',
}
/** Comparisons with days. */
const OF_DATES: Record<string, string> = {
  date_is: 'eq',
  date_is_not: 'neq',
  date_is_before: 'lt',
  date_is_on_or_before: 'lte',
  date_is_after: 'gt',
  date_is_on_or_after: 'gte',
  // In versions before 1.24, with a day as the value.
  date_equal: 'eq',
  date_not_equal: 'neq',
  date_before: 'lt',
  date_before_or_equal: 'lte',
  date_after: 'gt',
  date_after_or_equal: 'gte',
}
/** Days that they name. */
const OPERANDS: Record<string, DateOperand> = {
  today: 'today',
  tomorrow: 'tomorrow',
  yesterday: 'yesterday',
  nr_days_ago: 'daysAgo',
  nr_days_from_now: 'daysFromNow',
  exact_date: 'exactDate',
}

function toCondition(
  { field: id, type, value }: Options,
  byId: ReadonlyMap<number, BaserowField>,
): Condition | typeof NO_COUNTERPART {
  const field = byId.get(Number(id))
  const operator = String(type)
  if (!field) return NO_COUNTERPART
  const fieldId = fieldKey(field.id)
  const given = String(value ?? '')
  if (operator === 'empty' || operator === 'not_empty')
    return { fieldId, operator: operator === 'empty' ? 'blank' : 'notblank', value: null }
  if (operator === 'boolean') {
    const isTrue = ['1', 'true', 't', 'yes', 'on'].includes(given.toLowerCase())
    return { fieldId, operator: isTrue ? 'checked' : 'notchecked', value: null }
  }
  const ofDate = OF_DATES[operator]
  if (ofDate) return dateCondition(fieldId, ofDate, given)
  const ofChoices = OF_CHOICES[operator]
  if (ofChoices) {
    const titles = choicesById(field, given.split(',').filter(Boolean))
    if (titles === null || titles.length === 0) return NO_COUNTERPART
    const isOne = titles.length === 1 && operator.startsWith('single')
    return { fieldId, operator: ofChoices, value: isOne ? titles[0]! : choiceTitles(titles) }
  }
  const plain = OPERATORS[operator]
  return plain && given !== '' ? { fieldId, operator: plain, value: given } : NO_COUNTERPART
}

/** A comparison with `Europe/Berlin?3?nr_days_ago`, or with a day alone. */
function dateCondition(fieldId: string, operator: string, given: string): Condition | typeof NO_COUNTERPART {
  const parts = given.split('?')
  const [value = '', name = 'exact_date'] = parts.length >= 3 ? parts.slice(1) : parts.slice(-1)
  const operand = OPERANDS[name]
  if (!operand) return NO_COUNTERPART
  const base = { fieldId, operator, operand }
  if (operand === 'exactDate') return value === '' ? NO_COUNTERPART : { ...base, value: value.slice(0, 10) }
  if (!name.startsWith('nr_')) return { ...base, value: null }
  return /^\d{1,5}$/.test(value) ? { ...base, value: Number(value) } : NO_COUNTERPART
}

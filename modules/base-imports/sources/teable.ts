import * as z from 'zod/mini'
import { dayIn, isTimeZone } from '../../../src/core/dates.ts'
import { badRequest } from '../../../src/core/errors.ts'
import type { Condition, DateOperand } from '../../../src/core/filters/filter.ts'
import { DATE_OPERANDS } from '../../../src/core/filters/filter.ts'
import type { RowHeight } from '../../../src/core/model.ts'
import { trimTrailing } from '../../../src/core/trim-characters.ts'
import { viewKind } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  emptyRecord,
  type SourceComment,
  type SourceConnection,
  type SourceContext,
  type SourcePerson,
  type SourceRecord,
  SourceRejection,
  type SourceTable,
  type SourceView,
  sourceNote,
  wholeList,
} from '../source.ts'
import { createJsonClient } from './json-client.ts'
import { createTeableFields, type TeableFields } from './teable-fields.ts'
import {
  type TeableField,
  type TeableRecord,
  type TeableTable,
  type TeableView,
  teableBase,
  teableBases,
  teableCollaborators,
  teableCommentCounts,
  teableComments,
  teableFields,
  teableRecords,
  teableTables,
  teableViews,
} from './teable-types.ts'
import { asPercentage, choiceTitles, isRecord, type Options, personId } from './value-types.ts'
import { filterOf, NO_COUNTERPART, optionsOfKind, viewKindOf } from './view-settings.ts'

const PRODUCT = 'Teable'
const PER_SECOND = 50
/** At most 2000 (https://help.teable.ai/en/api-doc/record/get). */
const PAGE_SIZE = 500
const COMMENTS_PAGE = 100
const COLLABORATORS_PAGE = 100

/** Address of an instance, with a personal access token. */
export const teableCredentials = z.strictObject({
  address: z.string().check(z.trim(), z.minLength(1), z.maxLength(2000)),
  token: z.string().check(z.trim(), z.minLength(1), z.maxLength(2000)),
})

/** A running instance of Teable (https://help.teable.ai/en/api-doc/overview). */
export function openTeable(
  { address, token }: z.output<typeof teableCredentials>,
  { http, signal }: SourceContext,
): SourceConnection {
  const root = trimTrailing(address, '/').replace(/\/api$/, '')
  const client = createJsonClient({
    http,
    product: PRODUCT,
    headers: [['authorization', `Bearer ${token}`]],
    perSecond: PER_SECOND,
    signal,
    explain,
  })
  let known: {
    fields: TeableFields
    tables: ReadonlyMap<string, TeableTable>
    people: ReadonlyMap<string, SourcePerson>
  } | null = null
  let countsBy: CountsBy | null = null

  const get = <T>(path: string, schema: z.ZodMiniType<T>): Promise<T> =>
    client.get(`${root}/api${path}`, schema)

  /** Collaborators by id; none if the token may not read them. */
  async function collaborators(baseId: string): Promise<Map<string, SourcePerson>> {
    const people = new Map<string, SourcePerson>()
    try {
      await wholeList(async (cursor) => {
        const skip = Number(cursor ?? 0)
        const query = `skip=${skip}&take=${COLLABORATORS_PAGE}`
        const answer = await get(`/base/${baseId}/collaborators?${query}`, teableCollaborators)
        const before = people.size
        for (const { userId, userName, email } of answer.collaborators) {
          if (userId) people.set(userId, { id: userId, email: email ?? null, name: userName ?? null })
        }
        const isLast = answer.collaborators.length < COLLABORATORS_PAGE || people.size === before
        return { entries: [], next: isLast ? null : String(skip + COLLABORATORS_PAGE) }
      })
    } catch (error) {
      if (!(error instanceof SourceRejection)) throw error
    }
    return people
  }

  async function readTable(ref: z.output<typeof teableTables>[number]): Promise<TeableTable> {
    const path = `/table/${encodeURIComponent(ref.id)}`
    const [fields, views] = await Promise.all([
      get(`${path}/field`, teableFields),
      get(`${path}/view`, teableViews),
    ])
    return { ...ref, fields, views }
  }

  const commentCounts = (tableId: string, by: CountsBy, recordIds: string[], paging: string) => {
    const path = `${root}/api/comment/${encodeURIComponent(tableId)}/count`
    return by === 'records'
      ? client.get(path, teableCommentCounts, { method: 'POST', body: { recordIds } })
      : client.get(`${path}?${paging}`, teableCommentCounts)
  }

  /** How the server counts the comments of records; null if the token may not read them. */
  async function findCounts(tableId: string): Promise<CountsBy | null> {
    for (const by of ['records', 'page'] as const) {
      try {
        await commentCounts(tableId, by, [], 'take=1')
        return by
      } catch (error) {
        if (!(error instanceof SourceRejection)) throw error
      }
    }
    return null
  }

  return {
    async bases() {
      const found = await get('/base/access/all', teableBases)
      return found.map(({ id, name }) => ({ id, title: name }))
    },

    async describe(sourceBaseId) {
      const baseId = encodeURIComponent(sourceBaseId)
      const [{ name }, refs, people] = await Promise.all([
        get(`/base/${baseId}`, teableBase),
        get(`/base/${baseId}/table`, teableTables),
        collaborators(baseId),
      ])
      const tables: TeableTable[] = []
      for (const ref of refs) tables.push(await readTable(ref))
      countsBy = refs[0] ? await findCounts(refs[0].id) : null
      const fields = createTeableFields(tables, (file) =>
        URL.canParse(file, `${root}/`) ? new URL(file, `${root}/`).href : null,
      )
      known = { fields, people, tables: new Map(tables.map((table) => [table.id, table])) }
      return {
        title: name,
        tables: tables.map((table): SourceTable => {
          const byId = new Map(table.fields.map((field) => [field.id, field]))
          return {
            id: table.id,
            title: table.name,
            description: table.description || null,
            primaryFieldId: table.fields.find(({ isPrimary }) => isPrimary)?.id ?? null,
            fields: table.fields.map((field) => fields.toField(table, field)),
            views: table.views.map((view) => toView(view, byId, fields)),
            recordCount: null,
          }
        }),
        problems: [
          sourceNote(m.base_imports_note_teable()),
          ...(countsBy === null && refs[0] ? [sourceNote(m.base_imports_note_no_comments())] : []),
        ],
      }
    },

    people: async (baseId) => [...(await collaborators(encodeURIComponent(baseId))).values()],

    async records(_baseId, { id }, cursor) {
      const table = known?.tables.get(id)
      if (!known || !table) throw badRequest(m.base_imports_error_table_gone())
      const { fields } = known
      const offset = Number(cursor ?? 0)
      const query = new URLSearchParams({
        fieldKeyType: 'id',
        cellFormat: 'json',
        ignoreViewQuery: 'true',
        take: String(PAGE_SIZE),
        skip: String(offset),
      })
      const answer = await get(`/table/${encodeURIComponent(id)}/record?${query}`, teableRecords)
      const records = answer.records.map((record) => toRecord(table, fields, record))
      if (countsBy !== null && records.length > 0) {
        const ids = records.map((record) => record.id)
        const counts = await commentCounts(id, countsBy, ids, query.toString())
        const byId = new Map(counts.map(({ recordId, count }) => [recordId, count]))
        for (const record of records) record.comments = byId.get(record.id) ?? 0
      }
      const next = records.length < PAGE_SIZE ? null : String(offset + records.length)
      return { records, next }
    },

    async comments(_baseId, tableId, recordId): Promise<SourceComment[] | null> {
      if (!known || countsBy === null) return null
      const path = `/comment/${encodeURIComponent(tableId)}/${encodeURIComponent(recordId)}/list`
      const found = await wholeList(async (cursor) => {
        const query = new URLSearchParams({
          take: String(COMMENTS_PAGE),
          ...(cursor !== null && { cursor }),
        })
        const { comments, nextCursor } = await get(`${path}?${query}`, teableComments)
        return { entries: comments, next: nextCursor ?? null }
      })
      const { people } = known
      // A page begins with the comment at its cursor.
      const unique = [...new Map(found.map((comment) => [comment.id, comment])).values()]
      return unique.map(({ id, content, createdBy, createdTime, quoteId, reaction }) => ({
        id,
        author: authorOf(createdBy, people),
        text: commentText(content, people),
        createdAt: createdTime,
        parentId: quoteId,
        reactions: (reaction ?? []).flatMap(({ reaction: emoji, user }) =>
          user.map((one) => ({ emoji, person: authorOf(one, people) })),
        ),
      }))
    },
  }
}

/** Newer servers count the comments of given records, older ones those of a page of records. */
type CountsBy = 'records' | 'page'

function explain(status: number, body: unknown): Error | null {
  if (status === 401) return badRequest(m.base_imports_error_teable_token())
  const message = isRecord(body) && typeof body.message === 'string' ? body.message.slice(0, 300) : null
  return message === null
    ? null
    : new SourceRejection(status, m.base_imports_error_status({ product: PRODUCT, status: message }))
}

function toRecord(
  table: TeableTable,
  fields: TeableFields,
  { id, createdTime, fields: given }: TeableRecord,
): SourceRecord {
  const record = emptyRecord(id, createdTime ?? null)
  for (const field of table.fields) {
    const value = given[field.id]
    if (fields.isComputed(field)) record.computed[field.id] = fields.computedValue(field, value)
    else record.cells[field.id] = fields.cellOf(field, value)
    if (field.isLookup) continue
    if (field.type === 'createdTime' && typeof value === 'string') record.createdAt ??= value
    if (field.type === 'createdBy' && isRecord(value)) record.createdBy = personIn(value)
  }
  return record
}

const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const personIn = ({ id, email, title, name }: Options): SourcePerson => ({
  id: personId(id),
  email: textIn(email),
  name: textIn(title) ?? textIn(name),
})

/** The author of a comment or reaction: an id, or an object with it. */
function authorOf(author: unknown, people: ReadonlyMap<string, SourcePerson>): SourcePerson {
  const id = isRecord(author) ? author.id : author
  const shown = isRecord(author) ? personIn(author) : null
  return people.get(String(id)) ?? shown ?? { id: personId(id), email: null, name: textIn(id) }
}

/** A comment as text: its paragraphs, with names in place of mentions and addresses in place of images. */
function commentText(content: unknown, people: ReadonlyMap<string, SourcePerson>): string {
  const inline = (node: Options): string => {
    if (node.type === 'mention')
      return `@${people.get(String(node.value))?.name ?? textIn(node.title) ?? '…'}`
    if (node.type === 'a') return [textIn(node.title), textIn(node.url)].filter(Boolean).join(' ')
    return String(node.value ?? '')
  }
  const blocks = (Array.isArray(content) ? content : []).filter(isRecord).map((block) => {
    if (block.type === 'img') return String(block.url ?? block.path ?? '')
    const children = Array.isArray(block.children) ? block.children.filter(isRecord) : []
    return children.map(inline).join('')
  })
  return blocks.join('\n')
}

const HEIGHTS: Record<string, RowHeight> = {
  short: 'short',
  medium: 'medium',
  tall: 'tall',
  extraTall: 'extra',
}

function toView(view: TeableView, byId: ReadonlyMap<string, TeableField>, fields: TeableFields): SourceView {
  const notes: string[] = []
  const kind = viewKindOf(view.type, notes)
  const { isTabular, collectsAnswers } = viewKind(kind)
  const options = view.options ?? {}
  const columns = Object.entries(view.columnMeta ?? {})
    .filter(([id]) => byId.has(id))
    .toSorted(([, a], [, b]) => (a.order ?? 0) - (b.order ?? 0))
  // A grid names the fields that it hides, the others those that they show.
  const isShown = ([id, { hidden, visible }]: (typeof columns)[number]) =>
    byId.get(id)?.isPrimary || (isTabular ? hidden !== true : visible === true)
  const levels = (list: readonly { fieldId: string; order: string }[]) =>
    list.map(({ fieldId, order }) => ({
      fieldId,
      direction: order === 'desc' ? ('desc' as const) : ('asc' as const),
    }))
  if (collectsAnswers) notes.push(m.base_imports_note_form())
  const rowHeight = HEIGHTS[String(options.rowHeight)]
  const [start, end] = [textIn(options.startDateFieldId), textIn(options.endDateFieldId)]
  return {
    id: view.id,
    title: view.name,
    kind,
    visible: columns.length === 0 ? null : columns.filter(isShown).map(([id]) => id),
    widths: Object.fromEntries(columns.flatMap(([id, { width }]) => (width ? [[id, width]] : []))),
    filter: filterOf(view.filter, (condition) => toCondition(condition, byId, fields), notes),
    sorts: view.sort?.manualSort ? [] : levels(view.sort?.sortObjs ?? []),
    groups: levels(view.group ?? []),
    ...(rowHeight !== undefined && { rowHeight }),
    ...optionsOfKind(kind, {
      stackFieldId: textIn(options.stackFieldId),
      coverFieldId: textIn(options.coverFieldId),
      hideEmpty: options.isEmptyStackHidden === true ? true : null,
      ranges: start === null ? null : [{ fromFieldId: start, toFieldId: end === start ? null : end }],
      colorFieldId: textIn(isRecord(options.colorConfig) ? options.colorConfig.fieldId : null),
    }),
    notes,
  }
}

/** Operators by ours. */
const OPERATORS: Record<string, string> = {
  is: 'eq',
  isNot: 'neq',
  contains: 'like',
  doesNotContain: 'nlike',
  isEmpty: 'blank',
  isNotEmpty: 'notblank',
  isGreater: 'gt',
  isGreaterEqual: 'gte',
  isLess: 'lt',
  isLessEqual: 'lte',
  isAnyOf: 'anyof',
  isNoneOf: 'nanyof',
  hasAnyOf: 'anyof',
  hasAllOf: 'allof',
  hasNoneOf: 'nanyof',
  isWithIn: 'isWithin',
  isBefore: 'lt',
  isAfter: 'gt',
  isOnOrBefore: 'lte',
  isOnOrAfter: 'gte',
}

function toCondition(
  { fieldId, operator: name, value: given }: Options,
  byId: ReadonlyMap<string, TeableField>,
  fields: TeableFields,
): Condition | typeof NO_COUNTERPART {
  const field = byId.get(String(fieldId))
  const operator = OPERATORS[String(name)]
  if (!field || !operator) return NO_COUNTERPART
  if (operator === 'blank' || operator === 'notblank') return { fieldId: field.id, operator, value: null }
  if (field.cellValueType === 'boolean')
    return { fieldId: field.id, operator: given === true ? 'checked' : 'notchecked', value: null }
  if (isRecord(given)) return dateCondition(field, operator, given)
  const value = filterValue(field, given, fields)
  return value === undefined ? NO_COUNTERPART : { fieldId: field.id, operator, value }
}

/** A value of a filter; undefined for one without a counterpart, such as the ids of people and records. */
function filterValue(field: TeableField, given: unknown, fields: TeableFields): string | number | undefined {
  const list = Array.isArray(given) ? given : [given]
  if (field.type === 'link') return undefined
  if (OF_PEOPLE.has(field.type)) return list.every((one) => one === 'Me') ? '@me' : undefined
  const [one] = list
  if (field.type === 'multipleSelect' || list.length > 1) return choiceTitles(list)
  if (typeof one !== 'string' && typeof one !== 'number') return undefined
  return fields.isFraction(field) ? (asPercentage(one) ?? one) : one
}

const OF_PEOPLE = new Set(['user', 'createdBy', 'lastModifiedBy'])

/** A comparison with a day, which both products name alike. */
function dateCondition(
  field: TeableField,
  operator: string,
  { mode, numberOfDays, exactDate, timeZone }: Options,
): Condition | typeof NO_COUNTERPART {
  const operand = DATE_OPERANDS.find((one) => one === mode) as DateOperand | undefined
  if (!operand) return NO_COUNTERPART
  const base = { fieldId: field.id, operator, operand }
  if (operand === 'exactDate') {
    const day = new Date(String(exactDate))
    if (Number.isNaN(day.getTime())) return NO_COUNTERPART
    return { ...base, value: dayIn(day.getTime(), isTimeZone(String(timeZone)) ? String(timeZone) : 'UTC') }
  }
  return { ...base, value: typeof numberOfDays === 'number' ? numberOfDays : null }
}

import type { ShareActor } from '../../../src/core/actor.ts'
import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { type LinkedRecord, readLinks, readList } from '../../../src/core/fields/list-value.ts'
import { idsIn } from '../../../src/core/fields/people.ts'
import { holdsPeople, showsPeople } from '../../../src/core/fields/traits.ts'
import type { Field, Person, RecordId, View } from '../../../src/core/model.ts'
import { viewKind } from '../../../src/core/views/index.ts'
import { type AuthService, asPublicPerson } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  type AttachmentsService,
  type FileRow,
  type FileSigner,
  THUMBNAIL_SIZES,
  type ThumbnailSize,
} from '../attachments/index.ts'
import type { ReadContext } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { buttonOf, columnName, keyFieldsOf, keyValues, perModel } from '../table/index.ts'

/** Page information in REST answers. */
export interface PageInfo {
  totalRows: number
  page?: number
  pageSize: number
  isFirstPage: boolean
  isLastPage: boolean
  offset?: number
}

/** `page` if the offset is a multiple of the page size, else `offset`. */
export function pageInfo(totalRows: number, limit: number, offset: number): PageInfo {
  const isLastPage = offset + limit >= totalRows
  const isFirstPage = offset === 0
  if (offset % limit === 0)
    return { totalRows, page: offset / limit + 1, pageSize: limit, isFirstPage, isLastPage }
  return { totalRows, pageSize: limit, isFirstPage, isLastPage, offset }
}

/** System fields that REST answers never include, even if `fields` names them: authors and order. */
const isInternal = (field: Field): boolean =>
  field.isSystem && /^(created_by|updated_by|nc_order)$/.test(columnName(field))

/** The fields of an answer without a `fields` parameter. */
export const defaultFields = perModel((model) => model.fields.filter((field) => !isInternal(field)))

/** The fields of answers to a create or update, which include the order. */
export const writtenFields = perModel((model) =>
  model.fields.filter((field) => !isInternal(field) || columnName(field) === 'nc_order'),
)

/**
 * The visible fields: through a view only those it shows, including the fields that its kind requires, such as a
 * kanban’s stack field. System fields are visible through a view that shows them.
 */
export function visibleFields(model: TableModel, view: View | null, asked: Field[] | null): Field[] {
  if (view === null) return asked?.filter((field) => !isInternal(field)) ?? defaultFields(model)
  const hidden = new Set(view.fields.filter((field) => !field.show).map((field) => field.fieldId))
  for (const id of viewKind(view.kind).fieldIds(view.options)) hidden.delete(id)
  const isVisible = (field: Field) => {
    if (field.isPrimaryKey) return true
    return field.isSystem ? view.showSystemFields === true && !isInternal(field) : !hidden.has(field.id)
  }
  return (asked ?? model.fields).filter(isVisible)
}

/**
 * Presents people and empties rows without fields, in place. Null if the rows need no change, which is the common
 * case.
 */
export function presenterOf(fields: Field[], people: (ids: string[]) => Promise<Person[]>): Presenter | null {
  if (fields.length === 0) return async (rows) => rows.forEach(clear)
  return presentPeople(fields, people)
}

// SQL gives at least one column.
function clear(row: Row): void {
  for (const key of Object.keys(row)) delete row[key]
}

/** The primary key in answers to writes: `{"Id": 46}`, with each column of a composite key. */
export function presentKey(model: TableModel, id: RecordId): Row {
  const values = keyValues(model, id)
  return Object.fromEntries(
    keyFieldsOf(model).map((field, index) => [field.title, exactIn(field, values[index] ?? null)]),
  )
}

/** A part of a key in the type of its field: composite ids are text. */
function exactIn({ type }: Field, part: CellValue): CellValue {
  const isNumber = ['id', 'integer'].includes(fieldType(type).storage)
  return isNumber && typeof part === 'string' && Number.isSafeInteger(Number(part)) ? Number(part) : part
}

/** Presents rows of the database, in place. */
export type Presenter = (rows: Row[]) => Promise<void>

/** A record in REST answers, by field title. */
export type Row = Record<string, unknown>

/** Returns the presenter for rows of these fields; null if they need no change. */
export type PresenterFor = (fields: Field[], context: PresentContext) => Presenter | null

/** Presents people, computed fields and file links. */
export function createPresenterFor(
  { attachments }: Pick<RecordsService, 'attachments'>,
  auth: Pick<AuthService, 'people'>,
): PresenterFor {
  return (fields, context) =>
    withFiles(
      fields,
      withComputed(fields, presenterOf(fields, peopleFor(auth.people, context)), context),
      attachments,
      context,
    )
}

/** A person in REST answers (wire §15). */
const presentPerson = ({ id, email, displayName }: Person) => ({
  id,
  email,
  display_name: displayName,
  meta: null,
})

/** Looks up people, without addresses for visitors. */
export const peopleFor =
  (people: NamePeople, { visitor }: { visitor?: ShareActor }): NamePeople =>
  async (ids) => {
    const found = await people(ids)
    return visitor ? found.map(asPublicPerson) : found
  }

type NamePeople = (ids: string[]) => Promise<Person[]>

/**
 * Replaces the ids of people: by one object in fields for authors, by a list in others, or null if empty. Includes
 * former members. Null if no field shows people.
 */
function presentPeople(fields: Field[], people: (ids: string[]) => Promise<Person[]>): Presenter | null {
  // Lookups of several records already have a list.
  const personal = fields.flatMap((field) => {
    const { type } = shownType(field)
    return showsPeople({ type: type.name })
      ? [{ title: field.title, isList: holdsPeople({ type: type.name }) }]
      : []
  })
  if (personal.length === 0) return null
  return async (rows) => {
    const idsOf = (value: unknown) =>
      (Array.isArray(value) ? value : [value]).flatMap((one) => idsIn((one ?? null) as CellValue))
    const ids = new Set(rows.flatMap((row) => personal.flatMap(({ title }) => idsOf(row[title]))))
    const byId = new Map((await people([...ids])).map((person) => [person.id, presentPerson(person)]))
    for (const row of rows) {
      for (const { title, isList } of personal) {
        const value = row[title] ?? null
        const found = idsOf(value).flatMap((id) => byId.get(id) ?? [])
        if (Array.isArray(value) || isList) row[title] = value === null || value === '' ? null : found
        else row[title] = found[0] ?? null
      }
    }
  }
}

type Present = (value: CellValue) => unknown

/** The tables and engine that computed fields depend on. */
type PresentContext = Pick<ReadContext, 'models' | 'dialect' | 'visitor'>

/**
 * Presents the values of a computed field (wire §15): linked records as objects, lists as arrays, `"ERR"`
 * for a broken formula. Null if they need no change.
 */
export function presentComputed(field: Field, { models, dialect }: PresentContext): Present | null {
  if (fieldType(field.type).linkAnswer === 'records') return presentRecords(field, models)
  if (fieldType(field.type).computed === 'formula') {
    if (field.error !== null) return () => 'ERR'
    // Booleans are 1 and 0 for every engine.
    return shownType(field).type.storage === 'boolean'
      ? (value) => (value === null ? null : Number(value))
      : null
  }
  if (fieldType(field.type).computed === 'button') {
    const { webhookId = null } = field.options
    return (link) => {
      const button = buttonOf(field, link)
      return 'url' in button ? button : { ...button, fk_webhook_id: webhookId }
    }
  }
  // `withFiles` presents lists of files.
  const { isList, type } = shownType(field)
  if (!isList || type.holdsFiles) return null
  // Booleans as in cells of the same engine: 1 and 0 if its columns have numbers.
  const areNumbers = type.storage === 'boolean' && dialect.decode('boolean') !== null
  return areNumbers ? (list) => readList(list).map((one) => (one === null ? null : Number(one))) : readList
}

function presentRecords(field: Field, models: PresentContext['models']): Present {
  const link = linkOf(field)
  const related = link && models.get(link.relatedTableId)
  if (!link || !related) return () => null
  const { primaryKey, displayField } = related
  const present = ({ id, title }: LinkedRecord) => ({ [primaryKey.title]: id, [displayField.title]: title })
  return isSingleLink(link)
    ? (value) => readLinks(value).records.map(present)[0] ?? null
    : (value) => readLinks(value).records.map(present)
}

/** Extends a presenter by computed fields. */
export function withComputed(
  fields: Field[],
  next: Presenter | null,
  context: PresentContext,
): Presenter | null {
  const found = fields.flatMap((field) => {
    if (fieldType(field.type).computed === undefined) return []
    const present = presentComputed(field, context)
    return present ? [{ title: field.title, present }] : []
  })
  if (found.length === 0) return next
  return async (rows: Row[]) => {
    for (const row of rows) {
      for (const { title, present } of found) row[title] = present((row[title] ?? null) as CellValue)
    }
    await next?.(rows)
  }
}

/**
 * Extends a presenter by file links.
 *
 * @param visitor the visitor that the links are signed for, if any
 */
export function withFiles(
  fields: Field[],
  present: Presenter | null,
  { signerFor }: Pick<AttachmentsService, 'signerFor'>,
  { visitor }: { visitor?: ShareActor },
): Presenter | null {
  const found = fields.flatMap((field) => {
    const { type, isList } = shownType(field)
    return type.holdsFiles ? [{ title: field.title, isList }] : []
  })
  if (found.length === 0) return present
  return async (rows) => {
    await present?.(rows)
    const signer = await signerFor(visitor)
    for (const row of rows) {
      for (const { title, isList } of found) {
        row[title] = (isList ? presentFileLists : presentFiles)(row[title] as CellValue, signer)
      }
    }
  }
}

const SIZES = Object.keys(THUMBNAIL_SIZES) as ThumbnailSize[]

/** A cell of files (wire §15): a list with temporary links, or null. */
function presentFiles(value: CellValue, links: FileSigner): Record<string, unknown>[] | null {
  const items = readAttachments(value)
  if (items.length === 0) return null
  return items.map((item) => {
    const { path, url } = item
    if (path === undefined) return { ...item, id: itemId(url ?? ''), signedUrl: url }
    return {
      ...item,
      id: itemId(path),
      ...(isSafeImage(item.mimetype) && {
        thumbnails: Object.fromEntries(
          SIZES.map((size) => [size, { signedPath: links.thumbnailPath(path, size) }]),
        ),
      }),
      signedPath: links.signedPath(path),
    }
  })
}

/** The same for a lookup: one list of the files of all linked records, which may be empty. */
const presentFileLists = (value: CellValue, links: FileSigner): Record<string, unknown>[] =>
  readList(value).flatMap((cell) => presentFiles(cell, links) ?? [])

/** A file in the answer to its upload (wire §13.1). */
export function presentUpload(row: FileRow, links: FileSigner): Record<string, unknown> {
  const { path, title, mimetype, size, width, height } = row
  const pixels = width !== null && height !== null ? { width, height } : {}
  return { path, title, mimetype, size, ...pixels, signedPath: links.signedPath(path) }
}

/** A stable id of an item: `at` and 14 characters. */
const itemId = (place: string): string =>
  `at${BigInt(Bun.hash(place)).toString(36).padStart(14, '0').slice(-14)}`

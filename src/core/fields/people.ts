import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import {
  type CellValue,
  defineFieldType,
  describeValue,
  formatPlain,
  type Read,
  readFail,
  readOk,
} from './field-type.ts'
import { rejectInput } from './system-value.ts'

/** A user as displayed in cells: only properties that members may see. */
export interface Person {
  id: string
  email: string
  displayName: string | null
}

/** Placeholder for the record's creator in default values and for the current user in filters. */
export const ME = '@me'

const MAX_PEOPLE = 1000

/** Options of a field of people. */
export type PeopleOptions = {
  multiple: boolean
  /** Notifies people when they are selected. */
  notify: boolean
  /** People for resolving names and e-mails in text. Never stored: callers add them with `withPeople`. */
  people?: readonly Person[]
}

/** The user ids in a cell. */
export const idsIn = (value: CellValue): string[] =>
  value === null || value === ''
    ? []
    : [
        ...new Set(
          String(value)
            .split(',')
            .map((id) => id.trim()),
        ),
      ].filter(Boolean)

/** The cell value for these user ids. */
export const joinIds = (ids: readonly string[]): CellValue => [...new Set(ids)].join(',') || null

/** Resolves a default value for a new record: replaces "me" by its creator and drops former members. */
export function defaultPeople(
  value: CellValue,
  actorId: string | null,
  members: ReadonlySet<string>,
): CellValue {
  const ids = idsIn(value).map((id) => (id === ME ? (actorId ?? '') : id))
  return joinIds(ids.filter((id) => members.has(id)))
}

const ID = /^(?:us\w{1,60}|@me)$/

const options: z.ZodMiniType<PeopleOptions> = z.object({
  multiple: z._default(z.boolean(), false),
  notify: z._default(z.boolean(), false),
})

/** Shared definition of types whose values are people: user ids joined by commas, in the order chosen. */
export const peopleValue = {
  storage: 'text' as const,
  options,
  filters: 'user' as const,
  summaries: 'count' as const,
  people: 'chosen' as const,
  optionsLimitValues: true as const,
  read(input: unknown, { multiple }: PeopleOptions): Read {
    const ids = readPeople(input)
    if (ids === null || ids.length > MAX_PEOPLE || !ids.every((id) => ID.test(id)))
      return readFail(m.value_error_users({ value: describeValue(input) }))
    if (ids.length > 1 && !multiple) return readFail(m.value_error_one_user())
    return readOk(joinIds(ids))
  },
  parse(text: string, { multiple, people = [] }: PeopleOptions): CellValue {
    if (text.length > 100_000) return null
    const names = idsIn(text.replace(/[;\n]/g, ','))
    const found = names.map((one) => (ID.test(one) ? one : (findPerson(people, one)?.id ?? null)))
    if (found.length > MAX_PEOPLE || found.includes(null) || (found.length > 1 && !multiple)) return null
    return joinIds(found.filter((id) => id !== null))
  },
  format: (value: CellValue, { people }: PeopleOptions): string => {
    // Visitors of public links see names instead of e-mail addresses.
    const byId = new Map(people?.map(({ id, email, displayName }) => [id, email || (displayName ?? '')]))
    return idsIn(value)
      .map((id) => byId.get(id) ?? id)
      .join(',')
  },
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
}

/** Finds a person by id, e-mail address (also as `Ann <ann@example.com>`) or unique name; else null. */
export function findPerson(people: readonly Person[], text: string): Person | null {
  const address = (/<([^<>]+)>\s*$/.exec(text)?.[1] ?? text).trim().toLowerCase()
  const known = people.find(
    ({ id, email }) => id === address || id === text || email.toLowerCase() === address,
  )
  if (known) return known
  const named = people.filter(({ displayName }) => displayName?.trim().toLowerCase() === address)
  return named.length === 1 ? (named[0] ?? null) : null
}

/**
 * Reads ids or e-mails from an API client: a comma-separated text, a list, or objects with an `id` or `email`
 * (wire §15). Null for any other input.
 */
export function readPeople(input: unknown): string[] | null {
  if (typeof input === 'string') return input.length > 100_000 ? null : idsIn(input)
  const list = Array.isArray(input) ? input : isNamed(input) ? [input] : null
  if (list === null || list.length > MAX_PEOPLE) return null
  const names = list.map((one: unknown) =>
    typeof one === 'string' ? one : isNamed(one) ? (one.id ?? one.email) : null,
  )
  return names.every((name): name is string => typeof name === 'string' && name.trim() !== '')
    ? [...new Set(names.map((name) => name.trim()))]
    : null
}

interface Named {
  id?: unknown
  email?: unknown
}

const isNamed = (input: unknown): input is Named =>
  typeof input === 'object' && input !== null && ('id' in input || 'email' in input)

/** Members of the base, such as assignees. */
export const user = defineFieldType({
  ...peopleValue,
  name: 'User',
  label: m.field_type_user,
  group: 'people',
  help: m.field_type_user_help,
  example: 'Ann',
})

/** Legacy name of `User` for older clients. */
export const collaborator = defineFieldType({
  ...peopleValue,
  name: 'Collaborator',
  label: m.field_type_collaborator,
  group: 'people',
  help: m.field_type_collaborator_help,
  example: 'Ann',
  forPrograms: true,
})

/** Shared definition of fields that record one user id. Screens show the name. */
const personValue = {
  storage: 'text' as const,
  options: z.object({}),
  filters: 'user' as const,
  summaries: 'count' as const,
  people: 'recorded' as const,
  parse: (text: string): CellValue => (/^us\w{1,40}$/.test(text.trim()) ? text.trim() : null),
  format: formatPlain,
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
}

/** User id of the record's creator. */
export const createdBy = defineFieldType({
  ...personValue,
  name: 'CreatedBy',
  label: m.field_type_created_by,
  group: 'system',
  help: m.field_type_created_by_help,
  example: 'Ann',
  readOnly: true,
  systemColumn: 'created_by',
  read: rejectInput,
})

/** User id of the record's last editor. */
export const lastModifiedBy = defineFieldType({
  ...personValue,
  name: 'LastModifiedBy',
  label: m.field_type_last_modified_by,
  group: 'system',
  help: m.field_type_last_modified_by_help,
  example: 'Bob',
  readOnly: true,
  systemColumn: 'updated_by',
  read: rejectInput,
})

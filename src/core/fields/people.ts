import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { type CellValue, defineFieldType, describeValue, type Read, readFail, readOk } from './field-type.ts'
import { readNothing } from './system-value.ts'

/** Someone as shown beside a value: never more than a member may see. */
export interface Person {
  id: string
  email: string
  displayName: string | null
}

/** Stands for the person who makes the record, in a default value, and who asks, in a filter. */
export const ME = '@me'

/** Most people in one cell. */
const MAX_PEOPLE = 1000

/** Options of a field of people. */
export type PeopleOptions = {
  multiple: boolean
  /** Tell people when they are chosen. */
  notify: boolean
  /** Whom ids and e-mails stand for. Never stored: whoever reads text from people puts them there (`withPeople`). */
  people?: readonly Person[]
}

/** The ids that a cell holds. */
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

/** The cell that holds these people. */
export const joinIds = (ids: readonly string[]): CellValue => [...new Set(ids)].join(',') || null

/**
 * Whom a new record gets where nobody is named: "me" is whoever makes it, and those who have left the base
 * since are left out.
 */
export function defaultPeople(
  value: CellValue,
  actorId: string | null,
  members: ReadonlySet<string>,
): CellValue {
  const wanted = idsIn(value).map((id) => (id === ME ? (actorId ?? '') : id))
  return joinIds(wanted.filter((id) => members.has(id)))
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
    const ids = givenPeople(input)
    if (ids === null || ids.length > MAX_PEOPLE || !ids.every((id) => ID.test(id)))
      return readFail(`Expected user ids, got ${describeValue(input)}`)
    if (ids.length > 1 && !multiple) return readFail('Expected one user, got several')
    return readOk(joinIds(ids))
  },
  parse(text: string, { multiple, people = [] }: PeopleOptions): CellValue {
    if (text.length > 100_000) return null
    const wanted = idsIn(text.replace(/[;\n]/g, ','))
    const found = wanted.map((one) => (ID.test(one) ? one : (findPerson(people, one)?.id ?? null)))
    if (found.length > MAX_PEOPLE || found.includes(null) || (found.length > 1 && !multiple)) return null
    return joinIds(found.filter((id) => id !== null))
  },
  format: (value: CellValue, { people }: PeopleOptions): string => {
    // Visitors of a link are told names, and no address.
    const byId = new Map(people?.map(({ id, email, displayName }) => [id, email || (displayName ?? '')]))
    return idsIn(value)
      .map((id) => byId.get(id) ?? id)
      .join(',')
  },
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
}

/**
 * The one person whom a text names: by id, e-mail, or name where only one has it; `Ann <ann@example.com>`
 * is the e-mail.
 */
export function findPerson(people: readonly Person[], text: string): Person | null {
  const wanted = (/<([^<>]+)>\s*$/.exec(text)?.[1] ?? text).trim().toLowerCase()
  const known = people.find(({ id, email }) => id === wanted || id === text || email.toLowerCase() === wanted)
  if (known) return known
  const named = people.filter(({ displayName }) => displayName?.trim().toLowerCase() === wanted)
  return named.length === 1 ? (named[0] ?? null) : null
}

/**
 * Whom a program names: ids or e-mails of a comma list, of a list, or of objects with an `id` or `email`
 * (wire reference §15). Null where the input is no such thing.
 */
export function givenPeople(input: unknown): string[] | null {
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

/** Members of the base: whose task it is, who takes part. */
export const user = defineFieldType({
  ...peopleValue,
  name: 'User',
  label: m.field_type_user,
  group: 'people',
  help: m.field_type_user_help,
  example: 'Ann',
})

/** The same as `User`, under the name that older clients give it. */
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
  format: (value: CellValue) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
}

/** Who made the record: a user id. */
export const createdBy = defineFieldType({
  ...personValue,
  name: 'CreatedBy',
  label: m.field_type_created_by,
  group: 'system',
  help: m.field_type_created_by_help,
  example: 'Ann',
  readOnly: true,
  systemColumn: 'created_by',
  read: readNothing,
})

/** Who last changed the record: a user id. */
export const lastModifiedBy = defineFieldType({
  ...personValue,
  name: 'LastModifiedBy',
  label: m.field_type_last_modified_by,
  group: 'system',
  help: m.field_type_last_modified_by_help,
  example: 'Bob',
  readOnly: true,
  systemColumn: 'updated_by',
  read: readNothing,
})

import { createHash } from 'node:crypto'
import type { ImportedPerson } from '../../src/core/base-imports.ts'
import { findPerson } from '../../src/core/fields/people.ts'
import type { Person } from '../../src/core/model.ts'
import type { SourcePerson } from './source.ts'
import type { ImportedObject } from './store.ts'

/*
 * The people of a source: how many cells and comments they have there, and the member of the base who stands for each. Members are
 * found by the e-mail address, unless the user of the import has chosen another one, or nobody.
 */

/** Longest name or address that is kept. */
const MAX_NAME = 320
/** People of one import; cells of more are matched, but not counted. */
const MAX_PEOPLE = 20_000

/** Scopes of the people found by runs, and of the members chosen for them, whose id is empty for nobody. */
export const PERSON = 'person'
export const MATCH = 'match'

/** A person as runs have found them. */
export interface FoundPerson extends SourcePerson {
  /** Cells in the source by the ids of their fields, and records that they have created by `createdPlace`. */
  counts: Record<string, number>
  comments: number
  /** The member in cells that the last run has written; null: none. */
  member: string | null
  /** Members whom cells of earlier runs may have instead, until a run has read all records. */
  earlier: string[]
  /** The member who is the author of the comments; null: they show the name. */
  author: string | null
}

/** Where the records are counted that a person has created. */
export const createdPlace = (sourceTableId: string): string => `created ${sourceTableId}`

/**
 * Identifies a person: the address, or the id of one without, since several people may have the same name, or the name. Empty for one
 * without all of them.
 */
function personKey({ id, email, name }: SourcePerson): string {
  const address = email?.trim()
  if (!address && id) return `id ${cleanName(id)}`
  return cleanName((address || name?.trim() || '').toLowerCase()) ?? ''
}

/** Identifies a person in the notes of comments. */
export const personHash = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 24)

const cleanName = (text: string | null): string | null =>
  text?.replaceAll('\0', '').slice(0, MAX_NAME).toWellFormed() ?? null

/** A person with an id, a name and an address that can be stored. */
export const cleanPerson = ({ id, email, name }: SourcePerson): SourcePerson => ({
  id: cleanName(id),
  email: cleanName(email),
  name: cleanName(name),
})

/** A person in a text: `Ann <ann@example.com>`. */
export const personText = ({ id, email, name }: SourcePerson): string =>
  name && email && name !== email ? `${name} <${email}>` : (email ?? name ?? id ?? '')

/** The member who stands for a person, by the choices of the user or by the address. */
function findMember(
  members: readonly Person[],
  chosen: ReadonlyMap<string, string>,
  key: string,
  { email }: SourcePerson,
): Person | null {
  const choice = chosen.get(key)
  if (choice !== undefined) return members.find(({ id }) => id === choice) ?? null
  return email === null ? null : findPerson(members, email)
}

/** True if whoever stood for a person stays in cells and comments: they have left the base, and nobody was chosen instead. */
const hasLeft = (chosen: ReadonlyMap<string, string>, key: string, memberId: string | null): boolean =>
  memberId === null && chosen.get(key) !== ''

/** The chosen members by the keys of their people. */
export const chosenMembers = (objects: ReadonlyMap<string, ImportedObject>): Map<string, string> =>
  new Map([...objects].map(([key, { targetId }]) => [key, targetId]))

const readPerson = ({ digest }: ImportedObject): FoundPerson => JSON.parse(digest ?? '{}') as FoundPerson

const personObject = (key: string, person: FoundPerson, run: number): ImportedObject => ({
  sourceId: key,
  targetId: person.member ?? '',
  digest: JSON.stringify(person),
  pending: null,
  run,
})

const newPerson = (person: SourcePerson): FoundPerson => ({
  ...cleanPerson(person),
  counts: {},
  comments: 0,
  member: null,
  earlier: [],
  author: null,
})

/** People whom a source tells before the first run, which counts their cells and comments, for the store. */
export function toldPeople(people: readonly SourcePerson[]): ImportedObject[] {
  const byKey = new Map(people.map((person) => [personKey(person), person]))
  byKey.delete('')
  return [...byKey].slice(0, MAX_PEOPLE).map(([key, person]) => personObject(key, newPerson(person), 0))
}

/**
 * The people of an import for its user: those without a member in the last run first, so that choices keep the order, then by the
 * number of cells and comments. Those without any are only listed before the first run has ended.
 */
export function presentPeople(
  members: readonly Person[],
  chosen: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, ImportedObject>,
  isBeforeEnd: boolean,
): ImportedPerson[] {
  const unmatched = new Set<string>()
  const people = [...found].map(([key, object]): ImportedPerson => {
    const person = readPerson(object)
    const { id, email, name, counts, comments } = person
    const memberId = findMember(members, chosen, key, person)?.id ?? null
    let [cells, records] = [0, 0]
    for (const [place, count] of Object.entries(counts)) {
      if (place.startsWith(createdPlace(''))) records += count
      else cells += count
    }
    if ((cells > 0 ? person.member : person.author) === null) unmatched.add(key)
    const isBehind = (cells > 0 && person.member !== memberId) || (comments > 0 && person.author !== memberId)
    return {
      key,
      sourceId: id ?? null,
      email,
      name,
      cells,
      records,
      comments,
      memberId,
      isChosen: chosen.has(key),
      isBehind: isBehind && !hasLeft(chosen, key, memberId),
    }
  })
  const size = ({ cells, records, comments }: ImportedPerson) => cells + records + comments
  return people
    .filter((person) => isBeforeEnd || size(person) > 0)
    .toSorted(
      (a, b) =>
        Number(unmatched.has(b.key)) - Number(unmatched.has(a.key)) ||
        size(b) - size(a) ||
        (a.key < b.key ? -1 : 1),
    )
}

export type Roster = ReturnType<typeof createRoster>

/** The people of a run. What it counts is stored with the page of records that was counted. */
export function createRoster(
  members: readonly Person[],
  chosen: ReadonlyMap<string, string>,
  stored: ReadonlyMap<string, ImportedObject>,
  run: number,
) {
  const found = new Map<string, FoundPerson>()
  /** Keys of those whom this run has found. */
  const fresh = new Set<string>()
  const unsaved = new Set<string>()
  for (const [key, object] of stored) {
    const person = readPerson(object)
    if (object.run === run) fresh.add(key)
    found.set(
      key,
      object.run === run
        ? person
        : { ...person, counts: {}, member: null, earlier: together([...person.earlier, person.member]) },
    )
  }
  const matches = new Map<string, Person | null>()
  /** Keys of people without an address whom a version has found that did not store ids. */
  const named = new Set(
    [...found].flatMap(([key, { id, email }]) => (id === undefined && !email?.trim() ? key : [])),
  )

  /** Identifies a person within the import: as `personKey`, or as it has known them from the beginning. */
  function keyOf(person: SourcePerson): string {
    const name = personKey({ ...person, id: null })
    return named.has(name) ? name : personKey(person)
  }

  /** The member who stands for a person. One whose cells this run has written stays until its end. */
  function memberOf(person: SourcePerson): Person | null {
    const key = keyOf(person)
    if (key === '') return null
    const known = matches.get(key)
    if (known !== undefined) return known
    const written = fresh.has(key) ? found.get(key)?.member : null
    const member =
      (written && members.find(({ id }) => id === written)) || findMember(members, chosen, key, person)
    matches.set(key, member)
    return member
  }

  /** The person as this run has found them; null for one too many. */
  function entryOf(person: SourcePerson): FoundPerson | null {
    const key = keyOf(person)
    if (key === '') return null
    let entry = found.get(key)
    if (!entry) {
      if (found.size >= MAX_PEOPLE) return null
      entry = newPerson(person)
      found.set(key, entry)
    }
    entry.name = cleanName(person.name) ?? entry.name
    fresh.add(key)
    unsaved.add(key)
    return entry
  }

  return {
    keyOf,
    memberOf,

    /** Members who may stand for a person in cells of earlier runs and no longer do, because somebody else was chosen. */
    earlierOf(person: SourcePerson): string[] {
      const key = keyOf(person)
      const earlier = found.get(key)?.earlier ?? []
      if (earlier.length === 0) return earlier
      const now = memberOf(person)?.id ?? null
      return hasLeft(chosen, key, now) ? [] : earlier.filter((id) => id !== now)
    },

    /** Counts a cell of a field, or a created record. */
    count(person: SourcePerson, place: string): void {
      const member = memberOf(person)?.id ?? null
      const entry = entryOf(person)
      if (!entry) return
      entry.member = member
      entry.counts[place] = (entry.counts[place] ?? 0) + 1
    },

    countComment(person: SourcePerson): void {
      const author = memberOf(person)?.id ?? null
      const entry = entryOf(person)
      if (!entry) return
      if (entry.comments === 0) entry.author = author
      entry.comments += 1
    },

    /** Forgets what was counted in these places, which are read again. */
    forget(places: readonly string[]): void {
      for (const [key, entry] of found) {
        for (const place of places) {
          if (!(place in entry.counts)) continue
          delete entry.counts[place]
          unsaved.add(key)
        }
      }
    },

    /** People whose comments have another author than the member who stands for them now. */
    wronglyNamed(): { key: string; person: FoundPerson; author: Person | null }[] {
      return [...found].flatMap(([key, person]) => {
        if (person.comments === 0) return []
        const author = memberOf(person)
        const authorId = author?.id ?? null
        if (authorId === person.author || hasLeft(chosen, key, authorId)) return []
        return [{ key, person, author }]
      })
    },

    setAuthor(key: string, author: string | null): void {
      const person = found.get(key)
      if (person) person.author = author
      unsaved.add(key)
    },

    /** All records have been read: their cells have the members of this run, or those who have left. */
    finish(): void {
      for (const [key, person] of found) {
        if (fresh.has(key) && (person.earlier.length === 0 || hasLeft(chosen, key, person.member))) continue
        person.earlier = []
        unsaved.add(key)
      }
    },

    /** What was counted since the last call, for the store. */
    takeUnsaved(): ImportedObject[] {
      const objects = [...unsaved].flatMap((key) => {
        const person = found.get(key)
        return person ? [personObject(key, person, run)] : []
      })
      unsaved.clear()
      return objects
    },
  }
}

const together = (ids: readonly (string | null)[]): string[] => [...new Set(ids.filter((id) => id !== null))]

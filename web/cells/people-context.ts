import { createContext, useContext, useEffect, useSyncExternalStore } from 'react'
import { createStore } from 'zustand/vanilla'
import type { Person } from '../../src/core/model.ts'

const PeopleContext = createContext<ReadonlyMap<string, Person>>(new Map())

/** Provides the people that user ids refer to, by id. */
export const PeopleProvider = PeopleContext.Provider

/** People by id; empty outside of a `PeopleProvider`. */
export const usePeople = (): ReadonlyMap<string, Person> => useContext(PeopleContext)

/** Maximum number of people per request. */
const MAX_ASKED = 50

/** Names of former members that cells still refer to; looked up when first drawn. */
interface FormerPeople {
  /** The person; undefined while loading, or if unknown. */
  get(tableId: string, id: string): Person | undefined
  /** Requests a name; requests in the same tick are combined. */
  ask(tableId: string, id: string): void
  subscribe(listener: () => void): () => void
}

/** @param read looks up people referred to by records of a table */
export function createFormerPeople(
  read: (tableId: string, ids: string[]) => Promise<readonly Person[]>,
): FormerPeople {
  const known = createStore<ReadonlyMap<string, Person>>(() => new Map())
  const asked = new Set<string>()
  const waiting = new Map<string, Set<string>>()
  const keyOf = (tableId: string, id: string) => `${tableId} ${id}`

  async function readWaiting(): Promise<void> {
    const found = new Map<string, Person>()
    const batches = [...waiting].map(([tableId, ids]) => [tableId, [...ids]] as const)
    waiting.clear()
    for (const [tableId, ids] of batches) {
      for (let from = 0; from < ids.length; from += MAX_ASKED) {
        const part = ids.slice(from, from + MAX_ASKED)
        try {
          for (const person of await read(tableId, part)) found.set(keyOf(tableId, person.id), person)
        } catch {
          // The cell shows "Former member" and asks again on its next render.
          for (const id of part) asked.delete(keyOf(tableId, id))
        }
      }
    }
    known.setState((before) => new Map([...before, ...found]), true)
  }

  return {
    get: (tableId, id) => known.getState().get(keyOf(tableId, id)),
    ask(tableId, id) {
      if (asked.has(keyOf(tableId, id))) return
      asked.add(keyOf(tableId, id))
      if (waiting.size === 0) setTimeout(() => void readWaiting(), 20)
      waiting.set(tableId, (waiting.get(tableId) ?? new Set()).add(id))
    },
    subscribe: known.subscribe,
  }
}

const NOBODY: FormerPeople = { get: () => undefined, ask: () => {}, subscribe: () => () => {} }

const Context = createContext<FormerPeople>(NOBODY)

/** Provides former members to the cells below it. */
export const FormerPeopleProvider = Context.Provider

/** A former member by id; null for no lookup. */
export function useFormerPerson(tableId: string, id: string | null): Person | undefined {
  const former = useContext(Context)
  const person = useSyncExternalStore(former.subscribe, () =>
    id === null ? undefined : former.get(tableId, id),
  )
  useEffect(() => {
    if (id !== null) former.ask(tableId, id)
  }, [former, tableId, id])
  return person
}

/** A person's display name; undefined without a person. */
export const nameOf = (person: Person | undefined): string | undefined => person?.displayName || person?.email

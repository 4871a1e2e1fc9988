import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import { readLinks } from '../../src/core/fields/list-value.ts'
import type { RecordId } from '../../src/core/model.ts'
import { createLink, type TestEnd, type TestLink } from './links-support.ts'
import type { Bench, TestTable } from './support.ts'

/** Numbers that look random and are the same for a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export type TableName = 'A' | 'B'
export const NAMES: TableName[] = ['A', 'B']

/** Each kind of link between two tables, and of a table with itself. */
const LINKS: {
  name: string
  own: TableName
  related: TableName
  kind: LinkOptions['kind']
  holdsKey?: boolean
}[] = [
  { name: 'hm', own: 'A', related: 'B', kind: 'hm' },
  { name: 'bt', own: 'A', related: 'B', kind: 'bt' },
  { name: 'mm', own: 'A', related: 'B', kind: 'mm' },
  { name: 'oo', own: 'A', related: 'B', kind: 'oo' },
  { name: 'ooHeld', own: 'A', related: 'B', kind: 'oo', holdsKey: true },
  { name: 'hmSelf', own: 'A', related: 'A', kind: 'hm' },
  { name: 'mmSelf', own: 'A', related: 'A', kind: 'mm' },
  { name: 'ooSelf', own: 'A', related: 'A', kind: 'oo' },
]

/** Which records there are, and which of them belong together: all that links are about. */
export interface State {
  alive: Record<TableName, Set<RecordId>>
  /** Pairs `own target` by the link's name. */
  pairs: Map<string, Set<string>>
}

/** One side of a link as the model sees it: `isOwn` tells which of a pair is the record's own. */
export interface End {
  link: string
  end: TestEnd
  table: TableName
  other: TableName
  isOwn: boolean
  holdsOne: boolean
  heldByOne: boolean
}

/** A base with every kind of link, and what it should hold. */
export type World = Awaited<ReturnType<typeof createWorld>>

/** Makes the tables and links; the model begins with them empty. */
export async function createWorld(bench: Bench) {
  const tables: Record<TableName, TestTable> = { A: await bench.table(), B: await bench.table() }
  const ends: End[] = []
  const links = new Map<string, TestLink>()
  for (const { name, own, related, kind, holdsKey } of LINKS) {
    const made = await createLink(bench, tables[own], tables[related], kind, { title: name, holdsKey })
    links.set(name, made)
    const ownOne = kind === 'bt' || kind === 'oo'
    const relatedOne = kind === 'hm' || kind === 'oo'
    ends.push(
      {
        link: name,
        end: made.own,
        table: own,
        other: related,
        isOwn: true,
        holdsOne: ownOne,
        heldByOne: relatedOne,
      },
      {
        link: name,
        end: made.inverse,
        table: related,
        other: own,
        isOwn: false,
        holdsOne: relatedOne,
        heldByOne: ownOne,
      },
    )
  }
  const empty: State = {
    alive: { A: new Set(), B: new Set() },
    pairs: new Map(LINKS.map(({ name }) => [name, new Set<string>()])),
  }
  return { bench, tables, ends, links, empty, tableOf: (name: TableName) => tables[name] }
}

export const cloneState = ({ alive, pairs }: State): State => ({
  alive: { A: new Set(alive.A), B: new Set(alive.B) },
  pairs: new Map([...pairs].map(([name, set]) => [name, new Set(set)])),
})

/** A state as text, to be compared. */
export const textOf = ({ alive, pairs }: State): string =>
  JSON.stringify([
    NAMES.map((name) => [...alive[name]].map(Number).toSorted((a, b) => a - b)),
    [...pairs].map(([name, set]) => [name, [...set].toSorted()]),
  ])

const pairOf = ({ isOwn }: End, id: RecordId, target: RecordId): string =>
  isOwn ? `${id} ${target}` : `${target} ${id}`

const partsOf = ({ isOwn }: End, pair: string): [string, string] => {
  const [left = '', right = ''] = pair.split(' ')
  return isOwn ? [left, right] : [right, left]
}

/** What a request means, said as plainly as can be. */
export function applyLinks(
  state: State,
  end: End,
  kind: 'link' | 'unlink' | 'set',
  id: RecordId,
  targets: RecordId[],
): void {
  const pairs = state.pairs.get(end.link)!
  const dropWhere = (test: (own: string, target: string) => boolean) => {
    for (const pair of [...pairs]) if (test(...partsOf(end, pair))) pairs.delete(pair)
  }
  if (kind === 'unlink') {
    for (const target of targets) pairs.delete(pairOf(end, id, target))
    return
  }
  const wanted = end.holdsOne ? targets.slice(-1) : targets
  if (kind === 'set') dropWhere((own, target) => own === String(id) && !wanted.map(String).includes(target))
  for (const target of wanted) {
    if (end.holdsOne) dropWhere((own) => own === String(id))
    if (end.heldByOne) dropWhere((_, held) => held === String(target))
    pairs.add(pairOf(end, id, target))
  }
}

/** A record that goes takes its pairs along. */
export function applyDelete(state: State, world: World, table: TableName, ids: RecordId[]): void {
  for (const id of ids) {
    state.alive[table].delete(id)
    for (const end of world.ends.filter((candidate) => candidate.table === table)) {
      const pairs = state.pairs.get(end.link)!
      for (const pair of [...pairs]) if (partsOf(end, pair)[0] === String(id)) pairs.delete(pair)
    }
  }
}

/** What the read door shows: each side of each link, as the cells of the tables' records say. */
export async function readWorld({
  bench,
  tables,
  ends,
  empty,
}: World): Promise<{ own: State; inverse: State }> {
  const [own, inverse] = [cloneState(empty), cloneState(empty)]
  for (const name of NAMES) {
    const sides = ends.filter(({ table }) => table === name)
    const page = await bench.trpc.records.list.query({
      query: {
        tableId: tables[name].id,
        fieldIds: sides.map(({ end }) => end.fieldId),
        limit: 1000,
        offset: 0,
      },
    })
    page.ids.forEach((id, row) => {
      for (const state of [own, inverse]) state.alive[name].add(id)
      sides.forEach((side, column) => {
        const { count, records } = readLinks(page.rows[row]?.[column] ?? null)
        if (count !== records.length)
          throw new Error(`${side.link} of ${id}: ${count} counted, ${records.length} listed`)
        const state = side.isOwn ? own : inverse
        for (const record of records) state.pairs.get(side.link)!.add(pairOf(side, id, record.id))
      })
    })
  }
  return { own, inverse }
}

/** Records that have more partners than their side of a link may have. */
export function brokenRules({ ends }: World, state: State): string[] {
  return ends
    .filter(({ holdsOne }) => holdsOne)
    .flatMap((end) => {
      const owners = [...state.pairs.get(end.link)!].map((pair) => partsOf(end, pair)[0])
      const doubles = owners.filter((owner, index) => owners.indexOf(owner) !== index)
      return doubles.map((owner) => `${end.link}: ${owner} has several`)
    })
}

/** What lies in the tables themselves: no key and no pair may lead to a record that is gone. */
export async function findDangling(
  { bench, tables, links, ends }: World,
  alive: State['alive'],
): Promise<string[]> {
  const problems: string[] = []
  for (const [name, { own, inverse }] of links) {
    const end = ends.find((candidate) => candidate.link === name && candidate.isOwn)!
    const { junction, keyFieldId, holdsKey } = own.options
    const read = (tableId: string, fieldIds: string[]) =>
      bench.trpc.records.list.query({ query: { tableId, fieldIds, limit: 1000, offset: 0 } })
    if (junction) {
      const { rows } = await read(junction.tableId, [junction.ownFieldId, junction.relatedFieldId])
      for (const [left, right] of rows) {
        if (!alive[end.table].has(left as RecordId) || !alive[end.other].has(right as RecordId))
          problems.push(`${name}: pair ${left} ${right}`)
      }
      continue
    }
    const child = holdsKey ? own : inverse
    const parent = holdsKey ? end.other : end.table
    const { rows } = await read(child.tableId, [keyFieldId ?? ''])
    for (const [key] of rows) {
      if (key !== null && key !== undefined && !alive[parent].has(key as RecordId))
        problems.push(`${name}: key ${key}`)
    }
  }
  return problems.concat(tables.A.id === tables.B.id ? ['one table'] : [])
}

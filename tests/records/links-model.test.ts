import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TRPCClientError } from '@trpc/client'
import type { RecordId } from '../../src/core/model.ts'
import type { AppRouter } from '../../src/router.ts'
import { applyImported, chooseImported, IMPORTED, importRows } from './links-import.ts'
import {
  applyDelete,
  applyLinks,
  brokenRules,
  cloneState,
  createWorld,
  findDangling,
  randomOf,
  readWorld,
  type State,
  textOf,
  type World,
} from './links-world.ts'
import { type Bench, createBench } from './support.ts'

/** There are 16 ends and 7 kinds of steps. `LINKS_SEED=7 LINKS_STEPS=20000 bun test …` walks another way, or further. */
const SEEDS = process.env.LINKS_SEED ? [Number(process.env.LINKS_SEED)] : [1, 2]
const STEPS = Number(process.env.LINKS_STEPS ?? (process.env.TEST_HOME ? 200 : 600))
const MAX_ALIVE = 9

type Operation = Parameters<Bench['trpc']['records']['write']['mutate']>[0]['change']['operations'][number]

/** A step: what is sent, and what it should come to. */
interface Step {
  name: string
  run(): Promise<unknown>
  expected: State
}

describe.each(SEEDS)('links of every kind, seed %d', (seed) => {
  let bench: Bench
  let world: World
  beforeAll(async () => {
    bench = await createBench()
    world = await createWorld(bench)
  })
  afterAll(() => bench.stop())

  test(`both sides are what a plain model says, over ${STEPS} steps`, async () => {
    const random = randomOf(seed)
    const walk = createWalk(world, random)
    for (let step = 0; step < STEPS; step++) {
      const where = `seed ${seed}, step ${step}: ${await walk.step()}`
      const { own, inverse } = await readWorld(world)
      expect([where, textOf(own)]).toEqual([where, textOf(walk.state())])
      expect([where, textOf(inverse)]).toEqual([where, textOf(walk.state())])
      if (step % 50 === 49)
        expect([where, ...(await findDangling(world, walk.state().alive))]).toEqual([where])
    }
  }, 600_000)
})

describe.each(SEEDS)('two people who link and take back, seed %d', (seed) => {
  let bench: Bench
  let world: World
  beforeAll(async () => {
    bench = await createBench()
    world = await createWorld(bench)
  })
  afterAll(() => bench.stop())

  test(`both sides agree, and nothing leads nowhere, over ${STEPS / 2} steps`, async () => {
    const random = randomOf(seed * 1000)
    const walks = await Promise.all(
      [1, 2].map(async () => {
        const { id, token } = await bench.app.signUp()
        await bench.app.services.auth.access.setMembership(bench.baseId, id, 'editor')
        return createWalk(world, random, { trpc: bench.app.trpc(token), rest: bench.app.rest(token) })
      }),
    )
    let { own } = await readWorld(world)
    for (let step = 0; step < STEPS / 2; step++) {
      const walk = walks[random() < 0.5 ? 0 : 1]!
      const where = `seed ${seed}, step ${step}: ${await walk.stepFrom(own)}`
      const read = await readWorld(world)
      own = read.own
      expect([where, textOf(read.inverse)]).toEqual([where, textOf(own)])
      expect([where, ...brokenRules(world, own)]).toEqual([where])
      if (step % 10 === 9) expect([where, ...(await findDangling(world, own.alive))]).toEqual([where])
    }
  }, 600_000)
})

/** @param by who walks; the owner of the bench unless named */
function createWalk(world: World, random: () => number, by: Pick<Bench, 'trpc' | 'rest'> = world.bench) {
  const { bench, ends } = world
  const { baseId } = bench
  const { trpc, rest } = by
  let state = cloneState(world.empty)
  /** What was done with the state before it, and what was undone with the state after it. */
  const done: { name: string; state: State }[] = []
  let undone: typeof done = []
  const below = (count: number) => Math.floor(random() * count)
  const pick = <T>(items: T[]): T => items[below(items.length)]!
  const some = (ids: Set<RecordId>, most = 3) => [...ids].filter(() => random() < 0.5).slice(0, most)
  const write = (operations: Operation[]) => trpc.records.write.mutate({ change: { baseId, operations } })
  const usable = (end: (typeof ends)[number]) =>
    state.alive[end.table].size > 0 && state.alive[end.other].size > 0

  function linkStep(): Step | null {
    const end = pick(ends)
    if (!usable(end)) return null
    const id = pick([...state.alive[end.table]])
    const kind = pick(['link', 'link', 'unlink', 'set'] as const)
    const targets = some(state.alive[end.other], 6)
    const expected = cloneState(state)
    applyLinks(expected, end, kind, id, targets)
    const { tableId, fieldId } = end.end
    const operation: Operation =
      kind === 'set'
        ? { kind: 'update', tableId, rows: [{ id, values: { [fieldId]: JSON.stringify(targets) } }] }
        : { kind, tableId, fieldId, id, targets }
    return {
      name: `${kind} ${end.link} ${end.isOwn} ${id} ${targets}`,
      run: () => write([operation]),
      expected,
    }
  }

  /** Many records at once, as a paste does. */
  function pasteStep(): Step | null {
    const end = pick(ends)
    if (!usable(end)) return null
    const expected = cloneState(state)
    const rows = some(state.alive[end.table], 5).map((id) => {
      const targets = some(state.alive[end.other])
      applyLinks(expected, end, 'set', id, targets)
      return { id, values: { [end.end.fieldId]: targets.length > 0 ? JSON.stringify(targets) : null } }
    })
    if (rows.length === 0) return null
    const run = () => write([{ kind: 'update', tableId: end.end.tableId, rows }])
    return { name: `paste ${end.link} ${end.isOwn} ${JSON.stringify(rows)}`, run, expected }
  }

  /** The key itself, as programs write it. */
  function keyStep(): Step | null {
    const end = pick(ends.filter(({ end: { options } }) => options.holdsKey))
    if (!usable(end)) return null
    const expected = cloneState(state)
    const rows = some(state.alive[end.table]).map((id) => {
      const target = random() < 0.3 ? null : pick([...state.alive[end.other]])
      applyLinks(expected, end, 'set', id, target === null ? [] : [target])
      return { id, values: { [end.end.options.keyFieldId ?? '']: target } }
    })
    if (rows.length === 0) return null
    const run = () => write([{ kind: 'update', tableId: end.end.tableId, rows }])
    return { name: `keys ${end.link} ${JSON.stringify(rows)}`, run, expected }
  }

  function insertStep(): Step | null {
    const table = pick(['A', 'B'] as const)
    const room = MAX_ALIVE - state.alive[table].size
    if (room <= 0) return null
    const given = ends.filter(
      (end) => end.table === table && state.alive[end.other].size > 0 && random() < 0.4,
    )
    const plans = Array.from({ length: 1 + below(Math.min(3, room)) }, () =>
      given.map((end) => ({ end, targets: some(state.alive[end.other]) })),
    )
    const expected = cloneState(state)
    const rows = plans.map((plan) => ({
      values: Object.fromEntries(plan.map(({ end, targets }) => [end.end.fieldId, JSON.stringify(targets)])),
    }))
    const isRest = random() < 0.3
    return {
      name: `insert ${table} ${JSON.stringify(plans.map((plan) => plan.map(({ end, targets }) => [end.link, end.isOwn, targets])))}`,
      expected,
      async run() {
        const ids = isRest ? await insertByRest() : await insertByWrite()
        for (const id of ids) expected.alive[table].add(id)
        plans.forEach((plan, index) => {
          for (const { end, targets } of plan) applyLinks(expected, end, 'set', ids[index]!, targets)
        })
      },
    }
    async function insertByWrite(): Promise<RecordId[]> {
      return (await write([{ kind: 'insert', tableId: world.tables[table].id, rows }])).inserted
    }
    async function insertByRest(): Promise<RecordId[]> {
      const bodies = plans.map((plan) =>
        Object.fromEntries(
          plan.map(({ end, targets }) => {
            const refs = targets.map((Id) => ({ Id }))
            return [end.end.title, end.holdsOne ? (refs.at(-1) ?? null) : refs]
          }),
        ),
      )
      const { body } = await rest.post(world.tables[table].path, bodies)
      return body.map(({ Id }: { Id: number }) => Id)
    }
  }

  function deleteStep(): Step | null {
    const table = pick(['A', 'B'] as const)
    const ids = some(state.alive[table])
    if (ids.length === 0) return null
    const expected = cloneState(state)
    applyDelete(expected, world, table, ids)
    const tableId = world.tables[table].id
    const isSet = random() < 0.4
    const run = () =>
      isSet
        ? trpc.records.deleteMatching.mutate({ selection: { tableId, recordIds: ids } })
        : write([{ kind: 'delete', tableId, ids }])
    return { name: `delete ${isSet ? 'matching ' : ''}${table} ${ids}`, run, expected }
  }

  /** Links and deletions of one change hold together. */
  function mixedStep(): Step | null {
    const end = pick(ends)
    if (!usable(end)) return null
    const id = pick([...state.alive[end.table]])
    const targets = some(state.alive[end.other])
    const gone = pick([...state.alive[end.other]])
    const expected = cloneState(state)
    applyLinks(expected, end, 'link', id, targets)
    applyDelete(expected, world, end.other, [gone])
    const { tableId, fieldId } = end.end
    const run = () =>
      write([
        { kind: 'link', tableId, fieldId, id, targets },
        { kind: 'delete', tableId: world.tables[end.other].id, ids: [gone] },
      ])
    return { name: `link ${end.link} ${end.isOwn} ${id} ${targets} and delete ${gone}`, run, expected }
  }

  /** New records that name others in their links, and each other in those of the table with itself. */
  function importStep(): Step | null {
    const table = pick(['A', 'B'] as const)
    if (state.alive[table].size + IMPORTED > MAX_ALIVE) return null
    const links = chooseImported(world, state, table, random)
    const expected = cloneState(state)
    return {
      name: `import ${table} ${JSON.stringify(links.map(({ end, rows }) => [end.link, end.isOwn, rows]))}`,
      expected,
      async run() {
        await importRows(world, table, links)
        applyImported(expected, (await readWorld(world)).own.alive[table], table, links)
      },
    }
  }

  const choose = (): Step | null => {
    const dice = random()
    if (dice < 0.4) return linkStep()
    if (dice < 0.55) return pasteStep()
    if (dice < 0.62) return keyStep()
    if (dice < 0.77) return insertStep()
    if (dice < 0.88) return deleteStep()
    if (dice < 0.95) return mixedStep()
    return importStep()
  }

  return {
    state: () => state,
    /** A step from where others have come meanwhile; nobody says what taking back then comes to. */
    async stepFrom(current: State): Promise<string> {
      state = current
      if (random() < 0.35) {
        const verb = random() < 0.6 ? 'undo' : 'redo'
        await trpc.records[verb].mutate({ baseId }).catch((error: TRPCClientError<AppRouter>) => {
          // What would break a rule by now is refused; anything else is a fault.
          if ((error.data?.httpStatus ?? 500) >= 500) throw error
        })
        return verb
      }
      const step = choose()
      await step?.run()
      return step?.name ?? 'nothing'
    },
    async step(): Promise<string> {
      if (random() < 0.2) {
        const isUndo = random() < 0.6
        const [from, to] = isUndo ? [done, undone] : [undone, done]
        // Before the first step lies the making of the links themselves.
        const previous = from.pop()
        if (!previous) return 'nothing'
        await (isUndo ? trpc.records.undo : trpc.records.redo).mutate({ baseId })
        to.push({ name: previous.name, state })
        state = previous.state
        return `${isUndo ? 'undo' : 'redo'} of ${previous.name}`
      }
      const step = choose()
      if (!step) return 'nothing'
      await step.run()
      // What changes nothing leaves no line in the log, and nothing to take back.
      if (textOf(step.expected) !== textOf(state)) {
        done.push({ name: step.name, state })
        undone = []
        state = step.expected
      }
      return step.name
    },
  }
}

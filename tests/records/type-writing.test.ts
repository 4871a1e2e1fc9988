import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../src/core/fields/index.ts'
import { changesNothing, refusalOf, type TestTable } from './support.ts'
import { caseOf, createTypeWorld, inNewBase, type TypeWorld, WRITTEN_TYPES } from './type-cases.ts'
import { cellsOf, insert, tableOf, valuesOf } from './type-table.ts'

let shared: TypeWorld
let world: TypeWorld
beforeAll(async () => {
  shared = await createTypeWorld()
  world = shared
})
afterAll(() => shared.bench.stop())

const rest = () => world.bench.rest
const v1 = ({ id }: TestTable, tail = '') => `/api/v1/db/data/noco/${world.bench.baseId}/${id}${tail}`
const bulk = ({ id }: TestTable, tail = '') => `/api/v1/db/data/bulk/noco/${world.bench.baseId}/${id}${tail}`

/** Types of which no two values can be kept apart, and what a refusal says of them. */
const NEVER_UNIQUE: Partial<Record<FieldTypeName, RegExp>> = {
  Password: /Passwords can’t be compared/,
  Checkbox: /unique/,
}

describe.each(WRITTEN_TYPES.map((name) => [name]))('a %s field', (type) => {
  beforeAll(async () => {
    world = await inNewBase(shared)
  })

  test('reads the same over tRPC, v1 and v2 after every way of writing', async () => {
    const { written, seen, shown } = valuesOf(world, type)
    const table = await tableOf(world, type)
    const rows = written.map((V) => ({ V }))
    const creating: Record<string, () => Promise<unknown>> = {
      tRPC: () => insert(world, table, written),
      'v2 list': () => rest().post(table.path, rows),
      'v1 bulk': () => rest().post(bulk(table), rows),
      'v1 upsert': () => rest().post(bulk(table, '/upsert'), rows),
      'v1 one by one': async () => {
        for (const [index, row] of rows.entries())
          expect((await rest().post(v1(table), row)).body.V ?? null).toEqual(shown[index])
      },
    }
    const changing: Record<string, (keyed: { Id: number; V: CellValue }[]) => Promise<unknown>> = {
      'v2 patch': (keyed) => rest().patch(table.path, keyed),
      'v1 patch': async (keyed) => {
        for (const [index, { Id, V }] of keyed.entries())
          expect((await rest().patch(v1(table, `/${Id}`), { V })).body.V ?? null).toEqual(shown[index])
      },
      'v1 bulk patch': async (keyed) => {
        const { body } = await rest().patch(bulk(table), keyed)
        expect(body.map(({ V }: { V: unknown }) => V ?? null)).toEqual(shown)
      },
    }
    const ways = [...Object.keys(creating), ...Object.keys(changing)]
    for (const write of Object.values(creating)) await write()
    for (const [index, write] of Object.values(changing).entries()) {
      const first = (Object.keys(creating).length + index) * rows.length + 1
      await insert(
        world,
        table,
        written.map(() => null),
      )
      await write(rows.map((row, at) => ({ Id: first + at, ...row })))
    }

    /** What each way has made, by its name. */
    const byWay = (values: unknown[]) =>
      ways.map((way, index) => [way, values.slice(index * rows.length, (index + 1) * rows.length)])
    expect(byWay(await cellsOf(world, table))).toEqual(ways.map((way) => [way, seen]))
    for (const path of [table.path, v1(table)]) {
      const { list } = (await rest().get(`${path}?limit=200`)).body
      expect(byWay(list.map(({ V }: { V: unknown }) => V ?? null))).toEqual(ways.map((way) => [way, shown]))
    }
    const alone = [(await rest().get(`${table.path}/1`)).body, (await rest().get(v1(table, '/1'))).body]
    expect(alone.map(({ V }) => V)).toEqual([shown[0], shown[0]])
  })

  test('takes back what REST has shown of it', async () => {
    if (type === 'Password') return
    const [first = null] = valuesOf(world, type).written
    const table = await tableOf(world, type)
    await insert(world, table, [first])
    const { body } = await rest().get(`${table.path}/1`)
    await rest().post(table.path, { V: body.V })
    expect(await cellsOf(world, table)).toEqual([first, first])
  })

  test('takes a default value, or says that it cannot have one', async () => {
    const { written, seen } = valuesOf(world, type)
    const defaultValue = written[0] as string
    if (fieldType(type).noDefault) {
      const refusal = await refusalOf(tableOf(world, type, { defaultValue }))
      expect([refusal.status, refusal.message]).toEqual([
        400,
        expect.stringContaining('can’t have a default'),
      ])
      return
    }
    const table = await tableOf(world, type, { defaultValue })
    await rest().post(table.path, [{ Title: 'a' }, { Title: 'b', V: null }])
    expect(await cellsOf(world, table)).toEqual([seen[0] ?? null, null])
  })

  test('keeps records out that are empty in it where it is required', async () => {
    const { written, seen } = valuesOf(world, type)
    const { initial } = fieldType(type)
    const table = await tableOf(world, type, { required: true })
    await changesNothing(world.bench, async () => {
      const bodies = [{ V: null }, [{ V: written[0] }, { V: null }]]
      for (const body of initial === undefined ? [{}, { V: '' }, ...bodies] : bodies) {
        const answer = await rest().post(table.path, body)
        // JSON takes no empty text at all (wire §15).
        const codes = ['REQUIRED_FIELD_MISSING', 'INVALID_VALUE_FOR_FIELD']
        expect([answer.status, codes.includes(answer.body.error), answer.body.message]).toEqual([
          422,
          true,
          expect.stringContaining("'V'"),
        ])
      }
    })
    expect((await rest().post(table.path, { V: written[0] })).status).toBe(200)
    expect(await cellsOf(world, table)).toEqual([seen[0] ?? null])
    await changesNothing(world.bench, async () => {
      expect((await rest().patch(table.path, { Id: 1, V: null })).status).toBe(422)
    })
  })

  test('keeps values apart where it is unique', async () => {
    const { written } = valuesOf(world, type)
    const [first] = written
    if (NEVER_UNIQUE[type]) {
      const refusal = await refusalOf(tableOf(world, type, { unique: true }))
      expect([refusal.status, refusal.message]).toEqual([400, expect.stringMatching(NEVER_UNIQUE[type])])
      return
    }
    const table = await tableOf(world, type, { unique: true })
    expect((await rest().post(table.path, [{ V: first }, { V: null }, { V: null }])).status).toBe(200)
    await changesNothing(world.bench, async () => {
      const answer = await rest().post(table.path, [{ Title: 'beside' }, { V: first }])
      expect([answer.status, answer.body.details?.field]).toEqual([400, 'V'])
      expect((await rest().patch(table.path, { Id: 2, V: first })).status).toBe(400)
    })
  })

  test('refuses what it is not, names itself and the value, and changes nothing', async () => {
    const { refused } = caseOf(type)
    if (refused === undefined) return
    const table = await tableOf(world, type)
    await insert(world, table, [null])
    await changesNothing(world.bench, async () => {
      const answers = [
        await rest().post(table.path, [{ Title: 'beside' }, { V: refused }]),
        await rest().post(v1(table), { V: refused }),
        await rest().post(bulk(table), [{ V: refused }]),
        await rest().post(bulk(table, '/upsert'), [{ V: refused }]),
        await rest().patch(table.path, { Id: 1, V: refused }),
        await rest().patch(v1(table, '/1'), { V: refused }),
        await rest().patch(bulk(table, '/all'), { V: refused }),
      ]
      for (const { status, body } of answers) {
        expect([400, 422]).toContain(status)
        // The texts of three checks are the wire's own, and name the check (spec §5).
        expect(body.msg ?? body.message).toMatch(/'V'|"V"|Validation failed|nobody@|Invalid JSON/)
      }
      expect((await refusalOf(insert(world, table, [refused as CellValue]))).status).toBeGreaterThanOrEqual(
        400,
      )
    })
  })

  test('comes back exactly with undo, and goes again with redo', async () => {
    const { written, seen } = valuesOf(world, type)
    const table = await tableOf(world, type)
    await insert(world, table, written)
    const turned = [...written].reverse()
    await rest().patch(
      table.path,
      turned.map((V, index) => ({ Id: index + 1, V })),
    )
    const after = await cellsOf(world, table)
    const { baseId, trpc } = world.bench
    await trpc.records.undo.mutate({ baseId })
    expect(await cellsOf(world, table)).toEqual(seen)
    await trpc.records.redo.mutate({ baseId })
    expect(await cellsOf(world, table)).toEqual(after)
    await rest().delete(
      table.path,
      written.map((_, index) => ({ Id: index + 1 })),
    )
    await trpc.records.undo.mutate({ baseId })
    expect(await cellsOf(world, table)).toEqual(after)
  })
})

import { describe, expect, test } from 'bun:test'
import { createWriteQueue } from '../../src/db/mutex.ts'

/** A queue in which each writer holds its turn until the test lets it go. */
function createBench() {
  let time = 0
  const inTurn = createWriteQueue(() => time)
  const order: string[] = []
  const releaseLinks = new Map<string, () => void>()
  return {
    order,
    pass: (ms: number) => {
      time += ms
    },
    write(name: string, turn: { isLong?: boolean; patienceMs?: number } = {}) {
      const { promise, resolve } = Promise.withResolvers<void>()
      releaseLinks.set(name, resolve)
      return inTurn(async () => {
        order.push(name)
        await promise
        return name
      }, turn)
    },
    end: (name: string) => releaseLinks.get(name)?.(),
  }
}

const long = { isLong: true }

describe('the writers of a base', () => {
  test('have their turn as they came', async () => {
    const { write, end, order } = createBench()
    const writes = ['a', 'b', 'c'].map((name) => write(name))
    for (const name of ['a', 'b', 'c']) end(name)
    expect(await Promise.all(writes)).toEqual(['a', 'b', 'c'])
    expect(order).toEqual(['a', 'b', 'c'])
  })

  test('wait for the change of whole tables that runs, and not for those that wait', async () => {
    const { write, end, order } = createBench()
    const changes = ['one', 'two', 'three'].map((name) => write(name, long))
    const edit = write('edit')
    for (const name of ['one', 'edit', 'two', 'three']) end(name)
    await Promise.all([...changes, edit])
    expect(order).toEqual(['one', 'edit', 'two', 'three'])
  })

  test('do not keep a change of whole tables waiting for ever', async () => {
    const { write, end, order, pass } = createBench()
    const first = write('first')
    const change = write('change', long)
    const edits = ['a', 'b'].map((name) => write(name))
    pass(6_000)
    for (const name of ['first', 'change', 'a', 'b']) end(name)
    await Promise.all([first, change, ...edits])
    expect(order).toEqual(['first', 'change', 'a', 'b'])
  })

  test('are told when the turn does not come in time, and then write nothing', async () => {
    const { write, end, order } = createBench()
    const change = write('change', long)
    const edit = write('edit', { patienceMs: 30 })
    await expect(edit).rejects.toMatchObject({
      code: 'BASE_BUSY',
      status: 503,
      details: { retryAfterSeconds: 5 },
    })
    end('change')
    await change
    const later = write('later', { patienceMs: 30 })
    end('later')
    await later
    expect(order).toEqual(['change', 'later'])
  })

  test('go on after one that fails', async () => {
    const inTurn = createWriteQueue()
    const failed = inTurn(() => Promise.reject(new Error('no')))
    const next = inTurn(async () => 'next')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('next')
  })
})

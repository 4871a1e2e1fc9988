import { describe, expect, test } from 'bun:test'
import { isOffline } from '../../web/errors.ts'
import { createSendQueue } from '../../web/records/send-queue.ts'
import { pause } from './open-store.ts'

/** A queue with a connection that can be cut, and what happened to its items, in order. */
function open() {
  const events: string[] = []
  const world = { online: true }
  const queue = createSendQueue({ isAway: isOffline, pauseMs: () => 5 })
  const add = (name: string, isSentOnce = false) =>
    queue.add({
      isSentOnce,
      async send() {
        events.push(`${name} sent`)
        await Promise.resolve()
        if (!world.online) throw new TypeError('Failed to fetch')
        return name
      },
      done: () => void events.push(`${name} done`),
      refused: (error) => void events.push(`${name} refused: ${(error as Error).message}`),
    })
  return { queue, world, events, add }
}

describe('an item that is sent once', () => {
  test('is sent after those before it', async () => {
    const { queue, events, add } = open()
    add('edit')
    add('field', true)
    await queue.whenEmpty()
    expect(events).toEqual(['edit sent', 'edit done', 'field sent', 'field done'])
  })

  test('is refused when its answer is lost, and those behind it are sent', async () => {
    const { queue, world, events, add } = open()
    world.online = false
    add('field', true)
    add('edit')
    await pause(2)
    world.online = true
    await queue.whenEmpty()
    expect(events.slice(0, 2)).toEqual(['field sent', 'field refused: Failed to fetch'])
    expect(events.filter((event) => event === 'field sent')).toHaveLength(1)
    expect(events.at(-1)).toBe('edit done')
  })

  test('does not wait for the connection, neither behind others nor when it is added', async () => {
    const { queue, world, events, add } = open()
    world.online = false
    add('edit')
    add('field', true)
    await pause(2)
    add('trash', true)
    expect(events.filter((event) => event.includes('refused'))).toEqual([
      'field refused: Failed to fetch',
      'trash refused: Failed to fetch',
    ])
    expect(queue.status()).toEqual({ waiting: 1, offline: true })
    world.online = true
    await queue.whenEmpty()
    expect(events.filter((event) => event.endsWith('done'))).toEqual(['edit done'])
  })
})

describe('waiting for answers', () => {
  test('ends with the items that were there, and with the connection', async () => {
    const { queue, world, events, add } = open()
    await queue.whenAnswered()
    add('first')
    const answered = queue.whenAnswered().then(() => [...events])
    add('second')
    expect(await answered).not.toContain('second done')
    await queue.whenEmpty()
    add('third')
    world.online = false
    await expect(queue.whenAnswered()).rejects.toThrow('Failed to fetch')
    await expect(queue.whenAnswered()).rejects.toThrow('Failed to fetch')
    world.online = true
    await queue.whenEmpty()
    await queue.whenAnswered()
    expect(events.at(-1)).toBe('third done')
  })
})

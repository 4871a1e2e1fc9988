import { describe, expect, test } from 'bun:test'
import { ANONYMOUS } from '../../src/core/actor.ts'
import { claimCommit, watchScript } from '../../src/db/script-watch.ts'
import { createEvents } from '../../src/events.ts'
import { createWorks } from '../../src/works.ts'

/** Runs a script as a followed write; gives it the id by which it is cancelled. */
function setUp(script: (shared: SharedArrayBuffer | null, workId: string) => Promise<string>) {
  const events = createEvents((error) => {
    throw error
  })
  const works = createWorks({ events })
  const announced = Promise.withResolvers<string>()
  events.on('work.changed', ({ id }) => announced.resolve(id))
  const outcome = works.follow(ANONYMOUS, { kind: 'update', baseId: 'p_base' }, (work) =>
    watchScript(work, async (shared) => script(shared, await announced.promise)),
  )
  return { works, outcome }
}

describe('cancelling a script of another thread', () => {
  test('before its commit keeps it from committing', async () => {
    const { works, outcome } = setUp(async (shared, workId) => {
      works.stop(workId)
      claimCommit(shared)
      return 'committed'
    })
    await expect(outcome).rejects.toMatchObject({ code: 'CONFLICT', details: { isCancelled: true } })
  })

  test('from its commit on is without effect: the write answers that it was made', async () => {
    const { works, outcome } = setUp(async (shared, workId) => {
      claimCommit(shared)
      works.stop(workId)
      return 'committed'
    })
    expect(await outcome).toBe('committed')
  })
})

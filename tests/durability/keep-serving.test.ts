import { expect, test } from 'bun:test'
import { join } from 'node:path'

const SOURCE = join(import.meta.dir, '..', '..', 'src')

test('an error that nobody caught is logged with its context, and the process goes on', async () => {
  const script = `
    import { keepServing } from '${SOURCE}/keep-serving.ts'
    import { createLog } from '${SOURCE}/log.ts'
    keepServing(createLog('info'))
    void Promise.reject(new Error('a rejected write'))
    setTimeout(() => { throw new Error('a broken timer') }, 5)
    setTimeout(() => process.exit(7), 50)
  `
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' })
  const lines = (await new Response(child.stdout).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(await child.exited).toBe(7)
  expect(lines).toMatchObject([
    { level: 'error', message: 'unhandled rejection', error: 'a rejected write', pid: child.pid },
    { level: 'error', message: 'uncaught exception', error: 'a broken timer', pid: child.pid },
  ])
  for (const { stack } of lines) expect(stack).toContain('at ')
})

test('a log that cannot be written does not end the process', async () => {
  const script = `
    import { createLog } from '${SOURCE}/log.ts'
    const log = createLog('info')
    const timer = setInterval(() => log.info('x'.repeat(1000)), 1)
    setTimeout(() => { clearInterval(timer); process.exit(7) }, 200)
  `
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  const reader = child.stdout.getReader()
  await reader.read()
  await reader.cancel()
  expect(await child.exited).toBe(7)
})

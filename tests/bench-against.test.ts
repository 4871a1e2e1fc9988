import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readOptions } from './bench/options.ts'
import { createTestApp, PASSWORD } from './support/app.ts'

/** Runs the benchmark with these options. */
async function bench(...options: string[]) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'bench', 'main.ts'), ...options], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [printed, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, printed, errors }
}

test('the benchmark refuses options that it cannot use before it starts anything, and names a server that does not answer', async () => {
  const against = ['--against', 'http://127.0.0.1:1']
  for (const [options, message] of [
    [['--rows', 'many'], '--rows takes a whole number'],
    [['--seconds', 'x'], '--seconds takes a number of seconds'],
    [['--against', 'localhost'], '--against takes the address of a server'],
    [against, '--against needs an account on that server: --account EMAIL:PASSWORD'],
  ] as const) {
    expect(() => readOptions([...options])).toThrow(message)
  }
  const { code, printed, errors } = await bench('--fast')
  expect([code, printed, errors]).toEqual([2, '', expect.stringContaining("Unknown option '--fast'")])
  const away = await bench(...against, '--account', 'a@example.com:password', '--rows', '10')
  expect([away.code, away.errors]).toEqual([1, expect.stringMatching(/^http:\/\/127\.0\.0\.1:1: [^\n]+\n$/)])
})

test('the benchmark compares with any server of the same REST API, and leaves nothing behind', async () => {
  const app = await createTestApp()
  const owner = await app.signUp()
  try {
    const account = `${owner.email}:${PASSWORD}`
    const short = ['--rows', '60', '--rounds', '1', '--seconds', '0.05', '--idle', '0']
    const { code, printed, errors } = await bench('--against', app.url, '--account', account, ...short)
    expect([code, errors]).toEqual([0, ''])
    const ratios = printed.split('\n').flatMap((line) => /^(.+?) +([\d.]+) × /.exec(line)?.[1] ?? [])
    expect(ratios).toContain('filter and sort, first')
    expect(ratios).toContain('filter and sort, again')
    expect(ratios).toContain('link 10 records')
    expect(ratios).toHaveLength(28)
    const { body } = await app.rest(owner.token).get('/api/v2/meta/bases')
    expect(body.list.filter(({ title }: { title: string }) => title.startsWith('Bench'))).toEqual([])
  } finally {
    await app.stop()
  }
})

test('the benchmark removes its base where the other server refuses a part of it', async () => {
  const app = await createTestApp()
  const owner = await app.signUp()
  // A server that has bases and tables, but no links.
  const refusing = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname.endsWith('/columns')) return Response.json({ msg: 'no links' }, { status: 400 })
      return fetch(new Request(`${app.url}${pathname}${search}`, request))
    },
  })
  try {
    const account = `${owner.email}:${PASSWORD}`
    const address = `http://127.0.0.1:${refusing.port}`
    const { code, errors } = await bench('--against', address, '--account', account, '--rows', '10')
    expect([code, errors]).toEqual([1, expect.stringContaining('Could not create a link: 400')])
    const { body } = await app.rest(owner.token).get('/api/v2/meta/bases')
    expect(body.list.filter(({ title }: { title: string }) => title.startsWith('Bench'))).toEqual([])
  } finally {
    await refusing.stop(true)
    await app.stop()
  }
})

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createTestApp, PASSWORD } from './support/app.ts'

test('the benchmark compares with any server of the same REST API, and leaves nothing behind', async () => {
  const app = await createTestApp()
  const owner = await app.signUp()
  try {
    const child = Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, 'bench', 'main.ts'),
        '--against',
        app.url,
        '--account',
        `${owner.email}:${PASSWORD}`,
        '--rows',
        '60',
        '--rounds',
        '1',
        '--seconds',
        '0.05',
        '--idle',
        '0',
      ],
      { stdout: 'pipe', stderr: 'pipe' },
    )
    const printed = await new Response(child.stdout).text()
    expect(await new Response(child.stderr).text()).toBe('')
    expect(await child.exited).toBe(0)
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

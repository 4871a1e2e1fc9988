import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Browser } from 'playwright-core'
import type { ServerProcess } from '../imports/server-process.ts'
import { startThreeServers, type ThreeServers } from '../servers/support.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'
import { eventually, textOf } from './grid-page.ts'

/** "Within seconds", with time for a busy machine. */
const SECONDS_MS = 15_000

// A browser behind a load balancer over three servers: the server that it is connected to is killed or restarted,
// and it goes on with another.
let world: ThreeServers
let browser: Browser
let balancer: Server
let address: string
/** The servers in use, in the order in which connections try them. */
let targets: ServerProcess[]
const connections = new Set<Socket>()

beforeAll(async () => {
  ;[world, browser] = await Promise.all([startThreeServers({ NODE_ENV: 'production' }), shareBrowser()])
  targets = [...world.servers]
  balancer = createServer((client) => {
    connections.add(client)
    client.on('close', () => connections.delete(client)).on('error', () => {})
    forward(client, [...targets])
  })
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve))
  const { port } = balancer.address() as { port: number }
  address = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  await closeContexts(browser)
  for (const socket of connections) socket.destroy()
  balancer?.close()
  await world?.stop()
})

/** Connects a client with the first server that accepts. */
function forward(client: Socket, [first, ...others]: ServerProcess[]): void {
  if (!first) {
    client.destroy()
    return
  }
  const upstream = connect({ host: '127.0.0.1', port: Number(new URL(first.url).port) })
  upstream.once('error', () => forward(client, others))
  upstream.once('connect', () => {
    upstream.removeAllListeners('error').on('error', () => client.destroy())
    client.pipe(upstream).pipe(client)
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
}

test('a browser goes on with another server when its own is killed, and when that one is restarted', async () => {
  const api = world.trpc(world.servers[2])
  const { id: baseId } = await api.bases.create.mutate({ title: 'Elsewhere' })
  const { table, fields } = await api.schema.createTable.mutate({
    baseId,
    title: 'Tasks',
    fields: [{ title: 'Title', type: 'SingleLineText' }],
  })
  const titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
  const path = `/api/v2/tables/${table.id}/records`
  await world.rest(world.servers[2]).post(path, [{ Title: 'one' }, { Title: 'two' }])

  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(SECONDS_MS)
  await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), world.owner.token)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(`${address}/#/nc/${baseId}/${table.id}`)
  const cell = (row: number) => page.locator(`[role="gridcell"][data-row="${row}"][data-field="${titleId}"]`)
  const shows = async (row: number, text: string) =>
    expect(
      await eventually(
        async () => ((await cell(row).count()) === 0 ? '' : (await textOf(cell(row))).trim()),
        (now) => now === text,
        SECONDS_MS,
      ),
    ).toBe(text)
  await shows(1, 'two')

  /** The other servers' changes arrive, and what is typed is stored. */
  async function works(label: string): Promise<void> {
    const { body } = await world.rest(targets.at(-1) as ServerProcess).post(path, { Title: `told ${label}` })
    const count = Number(body.Id) - 1
    await shows(count, `told ${label}`)
    await cell(0).click()
    await page.keyboard.type(`typed ${label}`, { delay: 0 })
    await page.keyboard.press('Enter')
    const stored = async () => (await world.rest(targets.at(-1) as ServerProcess).get(`${path}/1`)).body.Title
    expect(await eventually(stored, (title) => title === `typed ${label}`, SECONDS_MS)).toBe(`typed ${label}`)
  }
  await works('at first')

  // Its server is killed; meanwhile a record is added elsewhere, and the person keeps typing.
  const [first, second, third] = world.servers
  const killedAt = performance.now()
  await first.end('SIGKILL')
  const { body: added } = await world.rest(third).post(path, { Title: 'added meanwhile' })
  await cell(1).click()
  await page.keyboard.type('typed meanwhile', { delay: 0 })
  await page.keyboard.press('Enter')
  await shows(Number(added.Id) - 1, 'added meanwhile')
  console.info(
    `the browser shows another server's records ${Math.round(performance.now() - killedAt)} ms after the kill`,
  )
  const kept = async () => (await world.rest(third).get(`${path}/2`)).body.Title
  expect(await eventually(kept, (title) => title === 'typed meanwhile', SECONDS_MS)).toBe('typed meanwhile')
  targets = [second, third]
  await works('after the kill')

  // The next one is restarted gracefully, as in an upgrade.
  expect(await second.end('SIGTERM')).toBe(0)
  world.servers[1] = await world.start()
  await works('after the restart')
  expect(problems).toEqual([])
  await context.close()
})

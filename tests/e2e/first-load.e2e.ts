import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext } from 'playwright-core'
import { FIELDS, makeRows } from '../bench/bare-table.ts'
import { type Load, recordLoad } from '../bench/web-load.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { closeContexts, shareBrowser } from '../support/shared-browser.ts'

/*
 * Limits of what a browser without a cache loads, gzipped and with headers. Grids and shared grids have some 11 KB of room,
 * forms 2 to 4. A page that exceeds them loads something before it is needed:
 * compare the sizes in `dist/web/assets` before and after the change.
 */
const GRID = { requests: 13, kb: 250 }
const SHARED_GRID = { requests: 13, kb: 235 }
const FORM = { requests: 4, kb: 40 }
const FORM_OF_ALL_TYPES = { requests: 6, kb: 106 }

/** Skeletons are cells as well. */
const LOADED_CELL = '[data-testid="row"][data-loaded] [role="gridcell"]'

let app: TestApp
let browser: Browser
let owner: TestUser
let baseId: string
let tableId: string
const contexts: BrowserContext[] = []

beforeAll(async () => {
  ;[app, browser] = await Promise.all([createTestApp(), shareBrowser()])
  owner = await app.signUp()
  baseId = (await createBase(app, owner)).id
  const { table } = await app
    .trpc(owner.token)
    .schema.createTable.mutate({ baseId, title: 'Orders', fields: FIELDS as never })
  tableId = table.id
  await app.rest(owner.token).post(`/api/v2/tables/${tableId}/records`, makeRows(200))
})
afterAll(async () => {
  await Promise.all(contexts.map((context) => context.close()))
  await closeContexts(browser)
  await app?.stop()
})

async function open(path: string, selector: string, last?: string): Promise<Load> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  contexts.push(context)
  await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), owner.token)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  const load = await recordLoad(page, { encodings: ['gzip'] })
  await page.goto(`${app.url}${path}`)
  await page.waitForSelector(selector)
  expect(problems).toEqual([])
  return load(last)
}

const paths = ({ requests }: Load): string[] => requests.map(({ path }) => path.replace(/\?.*/, ''))

describe('the first load', () => {
  test('of a grid is small and takes few requests', async () => {
    const load = await open(`/#/nc/${baseId}/${tableId}`, LOADED_CELL, '/trpc/records.list')
    expect(paths(load).length, paths(load).join('\n')).toBeLessThanOrEqual(GRID.requests)
    expect(load.kb).toBeLessThanOrEqual(GRID.kb)
    // Metadata in one call, then the records.
    const calls = paths(load).filter((path) => path.startsWith('/trpc/'))
    expect(calls.toSorted()).toEqual([
      '/trpc/auth.me,bases.list,bases.get,schema.tables,schema.table,records.people',
      '/trpc/records.count',
      '/trpc/records.list',
    ])
    expect(new Set(paths(load)).size).toBe(load.requests.length)
  })

  test('of a grid starts no other downloads while its records take long', async () => {
    const context = await browser.newContext()
    contexts.push(context)
    await context.addInitScript((token) => localStorage.setItem('sheaf.token', token), owner.token)
    const page = await context.newPage()
    const asked: string[] = []
    let isAnswered = false
    page.on('request', (request) => {
      if (!isAnswered) asked.push(new URL(request.url()).pathname)
    })
    await page.route(/records\.list/, async (route) => {
      await Bun.sleep(4_000)
      isAnswered = true
      await route.continue()
    })
    await page.goto(`${app.url}/#/nc/${baseId}/${tableId}`)
    await page.waitForSelector(LOADED_CELL)
    expect(asked).toContain('/trpc/records.list')
    expect(asked.filter((path) => /\/later-|socket/.test(path))).toEqual([])
    // They follow.
    await page.locator('[data-grid][data-takes-input]').waitFor()
  })

  test('of a shared grid is small and takes few requests', async () => {
    const api = app.trpc(owner.token)
    const view = await api.views.create.mutate({ tableId, title: 'For visitors', kind: 'grid' })
    const share = await api.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    const load = await open(`/shared#/nc/view/${share.id}`, LOADED_CELL, '/trpc/records.list')
    expect(paths(load).length, paths(load).join('\n')).toBeLessThanOrEqual(SHARED_GRID.requests)
    expect(load.kb).toBeLessThanOrEqual(SHARED_GRID.kb)
  })

  test('of a public form is small and takes few requests', async () => {
    const api = app.trpc(owner.token)
    const view = await api.views.create.mutate({ tableId, title: 'Order', kind: 'form' })
    const share = await api.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    // What completes the form follows its first questions.
    const load = await open(`/form#/nc/form/${share.id}`, '[data-testid="question"]', '/trpc/shares.open')
    expect(paths(load).length, paths(load).join('\n')).toBeLessThanOrEqual(FORM.requests)
    expect(load.kb).toBeLessThanOrEqual(FORM.kb)
  })

  test('of a public form with questions of every kind takes few requests', async () => {
    const api = app.trpc(owner.token)
    const fields = ['MultiSelect', 'Attachment', 'Time', 'JSON', 'GeoData'] as const
    const { table } = await api.schema.createTable.mutate({
      baseId,
      title: 'Every kind',
      fields: fields.map((type) => ({ title: type, type })),
    })
    const view = await api.views.create.mutate({ tableId: table.id, title: 'Everything', kind: 'form' })
    const share = await api.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    const load = await open(`/form#/nc/form/${share.id}`, '[data-testid="question"]')
    expect(paths(load).length, paths(load).join('\n')).toBeLessThanOrEqual(FORM_OF_ALL_TYPES.requests)
    expect(load.kb).toBeLessThanOrEqual(FORM_OF_ALL_TYPES.kb)
  })
})

describe('GET /dashboard and its assets', () => {
  const get = (path: string, headers: Record<string, string>) =>
    fetch(`${app.url}${path}`, { headers, decompress: false })

  test('are cached: assets for ever, pages by their ETag', async () => {
    const page = await get('/dashboard', {})
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const etag = page.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/".{22}"$/)
    const again = await get('/dashboard', { 'if-none-match': `"other", ${etag}` })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await get('/dashboard', { 'if-none-match': '"other"' })).status).toBe(200)

    const [, asset = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text()) ?? []
    const { headers } = await get(asset, {})
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  })

  test('are sent in the smallest encoding that the client accepts', async () => {
    const encodingFor = async (accepted: string) =>
      (await get('/dashboard', { 'accept-encoding': accepted })).headers.get('content-encoding')
    expect(await encodingFor('gzip, deflate, br')).toBe('br')
    expect(await encodingFor('gzip, br;q=0')).toBe('gzip')
    expect(await encodingFor('identity')).toBeNull()
    expect((await get('/dashboard', {})).headers.get('vary')).toBe('accept-encoding')
  })

  test('allow the inline scripts of the page and no other', async () => {
    const page = await get('/dashboard', { 'accept-encoding': 'identity' })
    const scripts = [...(await page.text()).matchAll(/<script>(.*?)<\/script>/gs)]
    const hashes = scripts.map(
      ([, code = '']) => `'sha256-${Bun.CryptoHasher.hash('sha256', code, 'base64')}'`,
    )
    const policy = page.headers.get('content-security-policy')
    expect(hashes).toHaveLength(2)
    expect(policy).toContain(`script-src 'self' ${hashes.join(' ')};`)
    expect(policy).not.toContain("script-src 'self' 'unsafe-inline'")
  })
})

describe('/trpc', () => {
  test('compresses large answers for clients that accept it', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${app.url}/trpc/schema.table?input=${encodeURIComponent(JSON.stringify({ tableId }))}`, {
        headers: { 'xc-auth': owner.token, ...headers },
        decompress: false,
      })
    const plain = await ask({ 'accept-encoding': 'identity' })
    const packed = await ask({ 'accept-encoding': 'gzip' })
    expect([plain.headers.get('content-encoding'), packed.headers.get('content-encoding')]).toEqual([
      null,
      'gzip',
    ])
    const bytes = new Uint8Array(await packed.arrayBuffer())
    const text = await plain.text()
    expect(bytes.length).toBeLessThan(text.length / 2)
    expect(JSON.parse(new TextDecoder().decode(Bun.gunzipSync(bytes)))).toEqual(JSON.parse(text))
  })
})

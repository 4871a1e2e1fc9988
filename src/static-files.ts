import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { nameRoute } from './caller.ts'
import { acceptsEncoding } from './content-encoding.ts'
import { embeddedFiles, PROJECT_ROOT } from './embedded.ts'
import type { Kernel } from './kernel.ts'

/** Files under /assets/ have a content hash in their name, so browsers may cache them forever. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
}

/** Compressed forms that the build writes beside a file, smallest first. */
const PACKED = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
]

/**
 * Allows only scripts of this server, inline ones by their hash, and no framing by other sites. Inline styles are allowed because components set
 * them at run time; map images may come from the configured tile host.
 */
function contentSecurityPolicy(mapTilesUrl: string | null, inlineScripts: readonly string[]): string {
  const tiles = mapTilesUrl === null ? '' : ` ${new URL(mapTilesUrl).origin}`
  const hashes = inlineScripts.map((code) => ` 'sha256-${Bun.CryptoHasher.hash('sha256', code, 'base64')}'`)
  return [
    "default-src 'self'",
    `script-src 'self'${hashes.join('')}`,
    "style-src 'self' 'unsafe-inline'",
    `img-src 'self' data: blob:${tiles}`,
    `connect-src 'self' ws: wss:${tiles}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ')
}

/** The built web app: from the executable, or from `dist/web`. Its routes are in the hash, so one page serves all. */
export function createStaticFiles(kernel: Pick<Kernel, 'log' | 'config'>) {
  const files = findFiles()
  if (!files.has('index.html')) kernel.log.warn('the web app is not built: `bun run start` builds it')
  return (
    new Elysia({ name: 'static-files' })
      .onBeforeHandle(({ route }) => nameRoute(route))
      // `dashboardPath` of the app info. The browser keeps the hash, which holds the route.
      .get('/', ({ redirect }) => redirect('/dashboard'))
      .get('/dashboard', ({ request }) => serve('index.html', request))
      .get('/form', ({ request }) => serve('public-form.html', request))
      .get('/shared', ({ request }) => serve('public-share.html', request))
      .get('/assets/*', ({ params, request }) => serve(`assets/${params['*']}`, request))
      .get('/builds/latest.json', ({ request }) => serve('builds/latest.json', request))
      .get('/favicon.svg', ({ request }) => serve('favicon.svg', request))
  )

  async function serve(path: string, request: Request): Promise<Response> {
    const file = files.get(path)
    if (!file) return Response.json({ msg: `Cannot GET /${path}` }, { status: 404 })
    const extension = path.slice(path.lastIndexOf('.') + 1)
    const isImmutable = path.startsWith('assets/')
    const headers = new Headers({
      'content-type': TYPES[extension] ?? 'application/octet-stream',
      'cache-control': isImmutable ? IMMUTABLE : 'no-cache',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    if (!isImmutable) {
      // Read each time, because a build may replace the files of a running server. They are small.
      const text = await Bun.file(file).text()
      const etag = `W/"${Bun.CryptoHasher.hash('sha256', text, 'base64url').slice(0, 22)}"`
      headers.set('etag', etag)
      if (extension === 'html') {
        headers.set('content-security-policy', policyOf(path, text))
        headers.set('referrer-policy', 'same-origin')
      }
      const known = request.headers.get('if-none-match')?.split(',') ?? []
      if (known.some((one) => one.trim() === etag)) return new Response(null, { status: 304, headers })
    }
    for (const { encoding, suffix } of PACKED) {
      const packed = files.get(path + suffix)
      if (!packed || !acceptsEncoding(request, encoding)) continue
      headers.set('content-encoding', encoding)
      return new Response(Bun.file(packed), { headers })
    }
    return new Response(Bun.file(file), { headers })
  }

  function policyOf(path: string, html: string): string {
    const [, ...scripts] = html.split('<script>')
    const inlineScripts = scripts.map((rest) => rest.slice(0, rest.indexOf('</script>')))
    const policy = contentSecurityPolicy(kernel.config.mapTilesUrl, inlineScripts)
    // Public forms and shared views may be embedded in other sites: their pages use no session, so clickjacking gains
    // nothing.
    return path === 'index.html' ? policy : policy.replace("frame-ancestors 'self'", 'frame-ancestors *')
  }
}

/** File locations of the web app by URL path. Nothing else is served. */
function findFiles(): Map<string, string> {
  const embedded = embeddedFiles()
  if (embedded) {
    return new Map(Object.entries(embedded.web).map(([path, file]) => [path.replace(/^web\//, ''), file]))
  }
  const root = join(PROJECT_ROOT, 'dist', 'web')
  if (!existsSync(root)) return new Map()
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return new Map(paths.map((path) => [path.replaceAll('\\', '/'), join(root, path)]))
}

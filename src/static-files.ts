import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
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

/**
 * Allows only scripts of this server and no framing by other sites. Inline styles are allowed because components set
 * them at run time; map images may come from the configured tile host.
 */
function contentSecurityPolicy(mapTilesUrl: string | null): string {
  const tiles = mapTilesUrl === null ? '' : ` ${new URL(mapTilesUrl).origin}`
  return [
    "default-src 'self'",
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
  const policy = contentSecurityPolicy(kernel.config.mapTilesUrl)
  // Public forms and shared views may be embedded in other sites: their pages use no session, so clickjacking gains
  // nothing.
  const publicPolicy = policy.replace("frame-ancestors 'self'", 'frame-ancestors *')
  const files = findFiles()
  if (!files.has('index.html')) kernel.log.warn('the web app is not built: `bun run start` builds it')
  return (
    new Elysia({ name: 'static-files' })
      // `dashboardPath` of the app info. The browser keeps the hash, which holds the route.
      .get('/', ({ redirect }) => redirect('/dashboard'))
      .get('/dashboard', ({ request }) => serve('index.html', request))
      .get('/form', ({ request }) => serve('public-form.html', request))
      .get('/shared', ({ request }) => serve('public-share.html', request))
      .get('/to-form.js', ({ request }) => serve('to-form.js', request))
      .get('/assets/*', ({ params, request }) => serve(`assets/${params['*']}`, request))
      .get('/builds/latest.json', ({ request }) => serve('builds/latest.json', request))
      .get('/favicon.svg', ({ request }) => serve('favicon.svg', request))
  )

  function serve(path: string, request: Request): Response {
    const file = files.get(path)
    if (!file) return Response.json({ msg: `Cannot GET /${path}` }, { status: 404 })
    const extension = path.slice(path.lastIndexOf('.') + 1)
    const headers = new Headers({
      'content-type': TYPES[extension] ?? 'application/octet-stream',
      'cache-control': path.startsWith('assets/') ? IMMUTABLE : 'no-cache',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    if (extension === 'html') {
      headers.set('content-security-policy', path === 'index.html' ? policy : publicPolicy)
      headers.set('referrer-policy', 'same-origin')
    }
    const packed = files.get(`${path}.gz`)
    const takesGzip = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')
    if (packed && takesGzip) headers.set('content-encoding', 'gzip')
    return new Response(Bun.file(packed && takesGzip ? packed : file), { headers })
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

import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import swaggerScript from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import startScript from './start.client.js' with { type: 'file' }

/** Files of the pages under `/api/docs/`. Nothing is loaded from other servers. */
const PAGE_FILES: Record<string, { path: string; type: string }> = {
  'swagger-ui.css': { path: swaggerStyle, type: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': { path: swaggerScript, type: 'text/javascript; charset=utf-8' },
  'start.js': { path: startScript, type: 'text/javascript; charset=utf-8' },
}

/** Swagger UI uses inline styles and data URLs; scripts come only from this server. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

/**
 * A page for an OpenAPI document.
 *
 * @param source path of the document
 * @param isOpen true if it needs no session
 * @param isReadOnly true to hide the request buttons
 */
export function documentPage(
  source: string,
  { isOpen = false, isReadOnly = false }: { isOpen?: boolean; isReadOnly?: boolean } = {},
): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sheaf API${isReadOnly ? ' reference' : ''}</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui" data-source="${Bun.escapeHTML(source)}" data-open="${isOpen}" data-readonly="${isReadOnly}"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script type="module" src="/api/docs/start.js"></script>
</body>
</html>
`
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  })
}

/** One of the pages' files, or null. */
export function pageFile(name: string): Response | null {
  const file = Object.hasOwn(PAGE_FILES, name) ? PAGE_FILES[name] : undefined
  if (!file) return null
  return new Response(Bun.file(file.path), {
    headers: {
      'content-type': file.type,
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
    },
  })
}

import type { Config } from '../config.ts'
import { SHARE_HEADERS } from '../core/shares.ts'
import { json } from './answer.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Content types that any site may send without a CORS preflight (Fetch standard, CORS-safelisted). */
const FORM_TYPES = /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(?:;|$)/i

/** Headers that forms cannot send, and that CORS does not allow other sites to add. */
const OWN_HEADERS = ['xc-auth', 'xc-token', 'authorization', ...Object.values(SHARE_HEADERS)]

/** Responses to public forms: open to everyone, without a session. */
const PUBLIC_ANSWERS = /^\/api\/v[12]\/(?:db\/)?public\/shared-view\/[^/]+\/rows\/?$/

/**
 * CSRF protection: rejects a form sent by a page of another site, which could use the browser's cookie or sign the
 * browser in to another account. Null for all other requests; programs send neither site nor origin.
 */
export function refuseOtherSites(request: Request, config: Pick<Config, 'publicUrl'>): Response | null {
  const { headers, method } = request
  if (SAFE_METHODS.has(method) || !isOtherSite(request, config)) return null
  const type = headers.get('content-type')
  // Other requests need a CORS preflight, which this server grants to no other site.
  if (type !== null && !FORM_TYPES.test(type)) return null
  if (OWN_HEADERS.some((name) => headers.has(name))) return null
  if (PUBLIC_ANSWERS.test(new URL(request.url).pathname)) return null
  return json({ msg: 'Forms of other sites are not accepted here' }, 403)
}

/** Uses `Sec-Fetch-Site`, or the origin if it is missing (old browsers, insecure connections). */
function isOtherSite(request: Request, { publicUrl }: Pick<Config, 'publicUrl'>): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'cross-site' || site === 'same-site'
  const origin = request.headers.get('origin')
  if (origin === null) return false
  if (!URL.canParse(origin)) return true
  const own = [request.headers.get('host'), publicUrl === null ? null : new URL(publicUrl).host]
  return !own.includes(new URL(origin).host)
}

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Config } from '../../src/config.ts'
import type { Secrets } from '../../src/secrets.ts'

const YEAR_SECONDS = 365 * 86_400

/**
 * How a browser shows that it has answered a form that takes one answer from each person. It holds nothing
 * about the person. Whoever wants to can do without it: a form that anyone may answer cannot know people.
 */
export function createAnsweredCookie(config: Pick<Config, 'publicUrl'>, secrets: Pick<Secrets, 'jwt'>) {
  const nameOf = (viewId: string) => `answered-${viewId}`
  const sign = (viewId: string) =>
    createHmac('sha256', secrets.jwt).update(`answered form ${viewId}`).digest('base64url')

  return {
    /** True where the request brings the cookie of this form, as it was made here. */
    isIn(headers: Headers, viewId: string): boolean {
      const cookies = (headers.get('cookie') ?? '').split(';').map((part) => part.trim())
      const start = `${nameOf(viewId)}=`
      const given = cookies.find((cookie) => cookie.startsWith(start))?.slice(start.length)
      const [own, other] = [Buffer.from(sign(viewId)), Buffer.from(given ?? '')]
      return own.length === other.length && timingSafeEqual(own, other)
    },

    /** Value of the `Set-Cookie` header after an answer. */
    header(viewId: string): string {
      const secure = config.publicUrl?.startsWith('https://') ? '; Secure' : ''
      return `${nameOf(viewId)}=${sign(viewId)}; Path=/; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Lax${secure}`
    },
  }
}

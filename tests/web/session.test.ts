import { describe, expect, test } from 'bun:test'
import { createSession, REFRESH_WINDOW_MS, type SessionDeps } from '../../web/session/session.ts'

const NOW = 1_800_000_000_000

/** A token as the server makes them, alive for so long from NOW. */
const tokenFor = (lifeMs: number, id = 'us1'): string =>
  [
    'e30',
    btoa(JSON.stringify({ id, email: `${id}@example.com`, exp: (NOW + lifeMs) / 1000 })),
    'signature',
  ].join('.')

const OLD = tokenFor(60_000)
const FRESH = tokenFor(36_000_000)

/** A session over a storage that other tabs could share. */
function open(token: string | null, answer: SessionDeps['askForToken'] = async () => FRESH) {
  const stored = { token, asked: 0 }
  const session = createSession({
    load: () => stored.token,
    save: (next) => {
      stored.token = next
    },
    now: () => NOW,
    exclusively: (work) => work(),
    askForToken: () => {
      stored.asked++
      return answer()
    },
  })
  return { session, stored }
}

describe('a session', () => {
  test('is signed out with no token, an expired one, and what is no token', () => {
    for (const token of [null, tokenFor(-1000), 'nonsense', 'a.b.c', `e30.${btoa('{"id":1}')}.x`]) {
      expect(open(token).session.status()).toBe('signedOut')
    }
    expect(open(FRESH).session.status()).toBe('signedIn')
  })

  test('sends the token as it is while more than five minutes remain', async () => {
    const token = tokenFor(REFRESH_WINDOW_MS + 1000)
    const { session, stored } = open(token)
    expect(await session.current()).toBe(token)
    expect(stored.asked).toBe(0)
  })

  test('renews a token with under five minutes left, once for all who ask at the same time', async () => {
    const { session, stored } = open(OLD)
    expect(await Promise.all([session.current(), session.current(), session.refresh()])).toEqual([
      FRESH,
      FRESH,
      FRESH,
    ])
    expect(stored).toEqual({ token: FRESH, asked: 1 })
  })

  test('takes the token that another tab has renewed instead of using the cookie again', async () => {
    const { session, stored } = open(OLD)
    stored.token = FRESH
    expect(await session.refresh()).toBe(FRESH)
    expect(stored.asked).toBe(0)
  })

  test('takes the token of the tab that won the race for the cookie', async () => {
    const { session, stored } = open(OLD, async () => {
      stored.token = FRESH
      return null
    })
    expect(await session.refresh()).toBe(FRESH)
    expect(session.status()).toBe('signedIn')
  })

  test('stays signed in when the server cannot be asked', async () => {
    const { session } = open(OLD, async () => {
      throw new TypeError('Failed to fetch')
    })
    expect(await session.current()).toBe(OLD)
    await expect(session.refresh()).rejects.toThrow('Failed to fetch')
    expect(session.status()).toBe('signedIn')
  })

  test('lets those who wait go on when the person signs in again, and fails them when they leave', async () => {
    const { session } = open(OLD, async () => null)
    expect(await session.refresh()).toBe(null)
    session.expire()
    expect(session.status()).toBe('expired')
    const first = session.resumed()
    session.signIn(FRESH)
    expect(await first).toBe(true)

    session.expire()
    const second = session.resumed()
    session.signOut()
    expect(await second).toBe(false)
    expect(session.token()).toBe(null)
  })

  test.each(['signs in here', 'signs in in another tab', 'has the cookie'])(
    'sends nothing of a person after somebody else %s',
    async (way) => {
      const OTHER = tokenFor(36_000_000, 'us2')
      for (const isExpired of [false, true]) {
        const { session, stored } = open(FRESH, async () => OTHER)
        if (isExpired) session.expire()
        const seen: string[] = []
        session.subscribe((status) => seen.push(status))
        const waiting = isExpired ? session.resumed() : null
        if (way === 'signs in here') session.signIn(OTHER)
        if (way === 'signs in in another tab') {
          stored.token = OTHER
          session.followOtherTab(OTHER)
        }
        // Refused, as after every 401: the page asks for a new token.
        expect(await session.refresh()).toBeNull()
        session.expire()
        expect(await Promise.all([waiting, session.resumed()])).toEqual([isExpired ? false : null, false])
        expect(seen).toEqual(['replaced'])
        // The page keeps the person that it shows, the next one gets the other.
        expect([session.userId(), session.token(), await session.current()]).toEqual(['us1', FRESH, FRESH])
        expect(open(stored.token).session.userId()).toBe('us2')
      }
    },
  )

  test('follows another tab out and in', () => {
    const { session } = open(FRESH)
    const seen: string[] = []
    session.subscribe((status) => seen.push(status))
    session.followOtherTab(null)
    session.followOtherTab(OLD)
    session.signOut()
    session.followOtherTab(tokenFor(36_000_000, 'us2'))
    expect(seen).toEqual(['signedOut', 'signedIn', 'signedOut', 'replaced'])
    expect(session.token()).toBeNull()
  })

  test('belongs to the first who signs in, whoever was there before the page was opened', () => {
    for (const token of [null, tokenFor(-1000)]) {
      const { session } = open(token)
      session.signIn(tokenFor(36_000_000, 'us2'))
      expect([session.status(), session.userId()]).toEqual(['signedIn', 'us2'])
    }
  })
})

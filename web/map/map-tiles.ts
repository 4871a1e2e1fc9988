import type { Outputs } from '../trpc.ts'

/** The server's map tile configuration; null draws country outlines instead. */
export type MapTiles = NonNullable<Outputs['app']['info']['mapTiles']>

let asked: Promise<MapTiles | null> | undefined

/**
 * The server's map tile configuration, requested once per page. A plain `fetch`, because public forms do not load the
 * app's client; it needs no session.
 *
 * @throws TypeError when the server cannot be reached
 */
export function readMapTiles(): Promise<MapTiles | null> {
  asked ??= ask().catch((error: unknown) => {
    asked = undefined
    throw error
  })
  return asked
}

async function ask(): Promise<MapTiles | null> {
  const answer = await fetch('/trpc/app.info')
  // An HTML page from a proxy counts as a lost connection.
  if (!answer.ok) throw new TypeError(`/trpc/app.info answered ${answer.status}`)
  const { result }: { result: { data: Outputs['app']['info'] } } = await answer.json()
  return result.data.mapTiles
}

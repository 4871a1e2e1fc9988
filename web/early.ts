import { readBasePlace } from './navigation/base-place.ts'

/*
 * Inlined into the app's page, so that it runs before any script has arrived: sends visitors of public links to their own
 * pages, and starts to load the code of the table that the address names. Everything here delays the first paint, so
 * it stays small and imports nothing large.
 */

/** Addresses of the files that the screens of a base need; filled in by the build. */
declare const TABLE_SCRIPTS: readonly string[]
declare const TABLE_STYLES: readonly string[]

const { hash, search } = location
if (/^#\/[^/]+\/form\/[^/]/.test(hash)) location.replace(`/form${search}${hash}`)
else if (/^#\/([^/]+\/(view|gallery|kanban|map|calendar|grid|base)|ERD\/shared)\/[^/]/.test(hash))
  location.replace(`/shared${hash}`)
else if (readBasePlace(hash.slice(1))) {
  for (const href of TABLE_SCRIPTS) append({ rel: 'modulepreload', href })
  for (const href of TABLE_STYLES) append({ rel: 'preload', as: 'style', href })
}

function append(link: { rel: string; href: string; as?: string }): void {
  // The bundler's links are anonymous, and a preload is only used by a request of the same mode.
  document.head.append(Object.assign(document.createElement('link'), link, { crossOrigin: '' }))
}

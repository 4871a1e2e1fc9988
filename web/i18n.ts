import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { number, showCatalogue } from '../src/core/message.ts'
import { CATALOGUES } from './catalogues.gen.ts'
import { localSettings } from './session/local-settings.ts'

/** Codes of the languages of the interface (spec §1); their names are in `language-names.ts`. */
const LANGUAGES = [
  'ar',
  'bn_IN',
  'cs',
  'da',
  'de',
  'en',
  'es',
  'eu',
  'fa',
  'fi',
  'fr',
  'he',
  'hi',
  'hr',
  'id',
  'it',
  'ja',
  'ko',
  'lv',
  'nl',
  'no',
  'pl',
  'pt',
  'pt_BR',
  'ru',
  'sk',
  'sl',
  'sv',
  'th',
  'tr',
  'uk',
  'vi',
  'zh-Hans',
  'zh-Hant',
] as const

export type Language = (typeof LANGUAGES)[number]

/** Languages that are written from right to left. */
export const RIGHT_TO_LEFT: readonly Language[] = ['ar', 'fa', 'he']

const shown = createStore<{ language: Language }>(() => ({ language: 'en' }))

/** The language shown at present. */
export const currentLanguage = (): Language => shown.getState().language

/** The language as a BCP 47 tag for `Intl` and `<html lang>`: `pt_BR` becomes `pt-BR`, `en` is `en-US` (spec §1). */
export const localeTag = (): string => tagOf(currentLanguage())

const tagOf = (language: Language): string => (language === 'en' ? 'en-US' : language.replace('_', '-'))

/** Text direction of the page: `rtl` in Arabic, Farsi and Hebrew. */
export const direction = (): 'ltr' | 'rtl' => (document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr')

/** Selectable languages: English and those with a catalogue. */
export const availableLanguages = (): Language[] =>
  LANGUAGES.filter((code) => code === 'en' || code in CATALOGUES)

/** The decimal mark of the user's locale. */
export function decimalMark(): '.' | ',' {
  const parts = new Intl.NumberFormat(localeTag()).formatToParts(1.5)
  return parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ',' : '.'
}

/** A number with the separators of the language. */
export const formatNumber = (n: number): string => number(localeTag(), n)

/** Names as a list in the language: `Ann, Ben, and Eve`. */
export const listNames = (names: readonly string[]): string =>
  new Intl.ListFormat(localeTag(), { type: 'conjunction' }).format(names)

/** Relative time such as `3 minutes ago`, from an ISO time or one of the server's UTC times. */
export function formatAgo(time: string, now = Date.now()): string {
  const seconds = (new Date(time.replace(' ', 'T')).getTime() - now) / 1000
  const words = new Intl.RelativeTimeFormat(localeTag(), { numeric: 'auto' })
  for (const [unit, size] of AGO_UNITS) {
    if (Math.abs(seconds) >= size || unit === 'second') return words.format(Math.round(seconds / size), unit)
  }
  return words.format(0, 'second')
}

const AGO_UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/**
 * Shows the interface in another language, sets `lang` and `dir` on `<html>` and remembers the choice.
 * Texts already on the screen follow where a component uses `useLanguage`; the app's root does.
 */
export async function setLanguage(next: Language): Promise<void> {
  localSettings.set('lang', next)
  await showLanguage(next)
}

/** Shows this page in another language without saving it, for shared pages with a set language. */
export async function showLanguage(next: Language): Promise<void> {
  const loaded = await CATALOGUES[next]?.()
  showCatalogue(loaded?.default ?? null)
  applyToDocument(next)
  shown.setState({ language: next })
}

/** Starts in the saved language; an unsupported one, or none that fits the browser, falls back to English. */
export async function startLanguage(browserLocales: readonly string[] = navigator.languages): Promise<void> {
  const saved = localSettings.get('lang')
  const wanted = availableLanguages().find((code) => code === saved) ?? matchLanguage(browserLocales)
  if (wanted === 'en') applyToDocument(currentLanguage())
  else await setLanguage(wanted)
}

/** The first of the browser's locales that can be shown: `pt-BR` is `pt_BR`, `de-AT` is `de`, `zh-TW` is `zh-Hant`. */
export function matchLanguage(
  locales: readonly string[],
  offered: readonly Language[] = availableLanguages(),
): Language {
  for (const locale of locales) {
    const { language, script } = new Intl.Locale(locale).maximize()
    for (const code of [locale, locale.replace('-', '_'), `${language}-${script}`, language]) {
      const found = offered.find((one) => one === code)
      if (found) return found
    }
  }
  return 'en'
}

function applyToDocument(language: Language): void {
  document.documentElement.lang = tagOf(language)
  document.documentElement.dir = RIGHT_TO_LEFT.includes(language) ? 'rtl' : 'ltr'
}

/** The current language as a hook. */
export const useLanguage = (): Language => useStore(shown, ({ language }) => language)

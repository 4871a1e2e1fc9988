import type { FieldOptions } from './field-type.ts'
import type { FieldTypeName } from './index.ts'

/** A detector's result; null if the column does not match. */
export type Detected = { type: FieldTypeName; options?: FieldOptions; ambiguous?: true } | null

/**
 * Splits a title into lower-case words: `gap_species_code`, `gapSpeciesCode` and `Gap species code` give the
 * same three.
 */
const wordsOf = (title: string): string[] =>
  title
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

const list = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/**
 * Words in a header that hint at the column's type, in the most common languages of files. A hint only decides where
 * the values are ambiguous; it never overrules them.
 */
const TITLE_HINTS = {
  /** Names and addresses: text, even if they recur. */
  name: list(
    'name names fullname firstname lastname surname forename author authors artist composer director customer client ' +
      'contact person employee student patient address addresses street vorname nachname kunde anschrift adresse ' +
      'straße strasse nom prenom prénom client adresse nombre apellido apellidos cliente direccion dirección nome cognome',
  ),
  /** The column that most likely names the record. */
  main: list('name title subject fullname titel nom nombre nome titre título titolo'),
  /** Identifiers: poor display values and never options. */
  code: list(
    'id ids uuid guid code codes sku isbn ean upc gtin hash key serial vin version versions build release zip zipcode ' +
      'postcode postal plz iban bic token number no nr num ref reference fips ssn checksum sha md5',
  ),
  /** Digits that are not amounts: rows outside the sample may have leading zeros. */
  digits: list('zip zipcode postcode postal plz isbn ean upc gtin iban ssn fips vin sku'),
  /** Numbers whose zeros after the point count: 1.1 is not 1.10. */
  outline: list(
    'version versions release revision rev build chapter section clause kapitel abschnitt chapitre ' +
      'capítulo capitulo sección seccion capitolo sezione',
  ),
  phone: list(
    'phone phones telephone tel mobile cell fax telefon handy mobil téléphone telefono teléfono móvil telefone celular ' +
      'телефон тел هاتف الهاتف جوال الجوال 电话 手机 手机号 電話 電話番号 携帯 携帯番号 手機 전화 전화번호 휴대폰 연락처',
  ),
  date: list(
    'date dates day dob birthdate birthday datum tag geburtstag jour fecha dia día data giorno dag dato dzień tarih дата 日付 日期 年月日 날짜',
  ),
  /** Days that are past. */
  birth: list(
    'birth birthday birthdays birthdate birthdates dob born geburt geburtstag geburtsdatum geboren geb naissance né née ' +
      'nacimiento nascimento nascita compleanno geboorte geboortedatum verjaardag födelsedag född fødsel fødselsdag fødselsdato ' +
      'syntymäaika urodzenia narození narozeniny születési рождения doğum 生年月日 誕生日 出生日期 生日 생년월일',
  ),
  duration: list('duration durations elapsed length runtime lap dauer laufzeit durée duración durata'),
  score: list('score scores ratio result results odds ergebnis'),
  year: list('year yr jahr année anno año ano'),
} as const

/** Words that also mean devices or spaces: `Mobile sessions`, `Cell count`. */
const UNCLEAR_PHONES = list('mobile cell phones mobil celular móvil')
/** Words beside them in titles of telephone numbers. */
const BESIDE_PHONES = list(
  'number numbers no nr num nummer numero número home work office business private personal main contact customer client 1 2',
)
/** Words before a year that make it a rate: `Cost per year`. */
const PER = list('per a each every pro im je par al por all ogni by')

/** True if the title has a word of the kind. */
export const hints = (title: string, kind: keyof typeof TITLE_HINTS): boolean =>
  wordsOf(title).some((word) => TITLE_HINTS[kind].has(word))

/** True if the title is that of telephone numbers, not of something about telephones or of what else its words mean. */
export function isPhoneTitle(title: string): boolean {
  const phones = wordsOf(title).filter((word) => TITLE_HINTS.phone.has(word))
  const isClear = phones.some((word) => !UNCLEAR_PHONES.has(word))
  const others = wordsOf(title).filter((word) => !TITLE_HINTS.phone.has(word))
  return isClear || (phones.length > 0 && others.every((word) => BESIDE_PHONES.has(word)))
}

/** True if the title is that of a year: as its first or last word, not of something per year or of a numbered year. */
export function isYearTitle(title: string): boolean {
  const words = wordsOf(title)
  const at = words.findIndex((word) => TITLE_HINTS.year.has(word))
  if (at < 0 || (at > 0 && at < words.length - 1)) return false
  const isNumbered = /^\d+$/.test(words[at + 1] ?? '')
  return !PER.has(words[at - 1] ?? '') && !isNumbered && !/\/\s*\p{L}+\s*$/u.test(title)
}

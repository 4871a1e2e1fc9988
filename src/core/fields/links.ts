import { linkType } from './link-type.ts'

export { type LinkOptions, linkOptions } from './link-options.ts'

/** Records of a table, of another or the same. REST clients get their number. */
export const links = linkType({
  name: 'Links',
  label: 'Links',
  help: 'Links records to records in another table',
  example: 'Hobbit, LOTR',
  linkAnswer: 'count',
})

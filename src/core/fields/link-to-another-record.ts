import { linkType } from './link-type.ts'

/** As `links`; REST clients get the records themselves. The single side of a link is always one of these. */
export const linkToAnotherRecord = linkType({
  name: 'LinkToAnotherRecord',
  label: 'Link to another record',
  help: 'Like Links, but the API returns the linked records instead of their count',
  example: 'Tolkien',
  linkAnswer: 'records',
})

import { linkType } from './link-type.ts'

/** As `links`; REST clients get the records themselves. The single side of a link is always one of these. */
export const linkToAnotherRecord = linkType({
  name: 'LinkToAnotherRecord',
  label: 'Link to another record',
  help: 'As Links; programs that read it get the records and not their number',
  example: 'Tolkien',
})

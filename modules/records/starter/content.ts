import { nowMs } from '../../../src/clock.ts'
import { ME } from '../../../src/core/fields/people.ts'
import type { NewField } from '../../schema/index.ts'

const choices = (...titles: string[]) => ({ choices: titles.map((title) => ({ title })) })

/** Stored fields of the three tables; computed fields are added after the links. */
export const STARTER_FIELDS: Record<'tasks' | 'projects' | 'people', NewField[]> = {
  tasks: [
    { title: 'Task', type: 'SingleLineText', isDisplay: true },
    { title: 'Status', type: 'SingleSelect', options: choices('To do', 'In progress', 'Done') },
    { title: 'Due', type: 'Date' },
    { title: 'Tags', type: 'MultiSelect', options: choices('Start here', 'Data', 'Team', 'API') },
    { title: 'Important', type: 'Rating' },
    { title: 'Checked', type: 'Checkbox' },
    { title: 'Notes', type: 'LongText' },
    { title: 'Assigned to', type: 'User', options: { multiple: true }, defaultValue: ME },
    { title: 'Progress', type: 'Percent', options: { bar: true } },
    { title: 'Estimate', type: 'Duration' },
    { title: 'Hours', type: 'Decimal', options: { precision: 1 } },
    { title: 'Meeting', type: 'DateTime' },
    { title: 'Page', type: 'URL' },
    { title: 'Files', type: 'Attachment' },
    { title: 'No', type: 'AutoNumber' },
    { title: 'Created', type: 'CreatedTime' },
    { title: 'Created by', type: 'CreatedBy' },
  ],
  projects: [
    { title: 'Project', type: 'SingleLineText', isDisplay: true },
    { title: 'Stage', type: 'SingleSelect', options: choices('Idea', 'Running', 'Finished') },
    { title: 'Starts', type: 'Date' },
    { title: 'Budget', type: 'Currency' },
    { title: 'Seats', type: 'Number' },
    { title: 'Settings', type: 'JSON' },
  ],
  people: [
    { title: 'Name', type: 'SingleLineText', isDisplay: true },
    { title: 'Email', type: 'Email' },
    { title: 'Phone', type: 'PhoneNumber' },
    { title: 'City', type: 'SingleLineText' },
    { title: 'Place', type: 'GeoData' },
    { title: 'Day starts', type: 'Time' },
    { title: 'Joined', type: 'Year' },
  ],
}

/** A date relative to today, in the stored form. */
const day = (offset: number): string => new Date(nowMs() + offset * 86_400_000).toISOString().slice(0, 10)

/** Projects by the titles of their fields. */
export const starterProjects = () => [
  {
    Project: 'Getting to know Sheaf',
    Stage: 'Running',
    Starts: day(0),
    Budget: 0,
    Seats: 1,
    Settings: '{"colour": "blue", "weekly": true}',
  },
  { Project: 'New website', Stage: 'Running', Starts: day(-20), Budget: 12_500, Seats: 4 },
  { Project: 'Autumn fair', Stage: 'Idea', Starts: day(40), Budget: 3200, Seats: 6 },
]

/** People by the titles of their fields. */
export const starterPeople = () => [
  {
    Name: 'Ada Winter',
    Email: 'ada@example.com',
    Phone: '+1 555 010 9999',
    City: 'London',
    Place: '51.5072;-0.1276',
    'Day starts': '09:00:00',
    Joined: 2019,
  },
  {
    Name: 'Bruno Keller',
    Email: 'bruno@example.com',
    Phone: '+49 30 901820',
    City: 'Berlin',
    Place: '52.52;13.405',
    'Day starts': '08:30:00',
    Joined: 2021,
  },
  {
    Name: 'Chiara Rossi',
    Email: 'chiara@example.com',
    City: 'Torino',
    Place: '45.0703;7.6869',
    'Day starts': '07:45:00',
    Joined: 2024,
  },
]

/** Tasks by field title; `Project` and `People` are indexes into the lists above. */
export const starterTasks = () => [
  {
    Task: 'Edit a cell',
    Status: 'In progress',
    Due: day(0),
    Tags: 'Start here',
    Important: 5,
    Notes:
      'Click a cell and type. Enter saves and goes down, Tab saves and goes on, Escape leaves it as it was.',
    Progress: 40,
    Estimate: 900,
    Hours: 0.5,
    Project: 0,
    People: [0],
  },
  {
    Task: 'Take it back',
    Status: 'To do',
    Due: day(1),
    Tags: 'Start here',
    Important: 4,
    Notes: 'Ctrl+Z undoes every step, also after you have closed the page. Ctrl+Shift+Z does it again.',
    Progress: 0,
    Estimate: 300,
    Hours: 0.25,
    Project: 0,
    People: [0],
  },
  {
    Task: 'Link two records',
    Status: 'To do',
    Due: day(1),
    Tags: 'Start here',
    Important: 4,
    Notes:
      'Open a cell of Project or People and choose a record. The other table shows the link too, and what is looked up, summed up and worked out over it follows at once.',
    Progress: 0,
    Estimate: 600,
    Hours: 0.25,
    Project: 0,
    People: [0, 1],
  },
  {
    Task: 'Import a CSV file',
    Status: 'To do',
    Due: day(2),
    Tags: 'Data',
    Important: 4,
    Notes:
      'Drop it on this table or on the list at the side. You see the detected types before anything is written.',
    Progress: 0,
    Estimate: 1800,
    Hours: 1,
    Project: 0,
    People: [1],
  },
  {
    Task: 'Paste from a spreadsheet',
    Status: 'To do',
    Due: day(3),
    Tags: 'Data,Start here',
    Important: 3,
    Notes: 'Copy cells in Excel or Google Sheets, select a cell here and press Ctrl+V.',
    Progress: 0,
    Estimate: 600,
    Hours: 0.5,
    Project: 0,
    People: [1],
  },
  {
    Task: 'Read the records from a program',
    Status: 'To do',
    Due: day(7),
    Tags: 'API',
    Important: 3,
    Notes: 'Make a token in your account and call /api/v2/tables/{tableId}/records with it.',
    Page: 'https://example.com/api',
    Progress: 0,
    Estimate: 3600,
    Hours: 2,
    Project: 0,
    People: [2],
  },
  {
    Task: 'Plan the kick-off',
    Status: 'Done',
    Due: day(-3),
    Tags: 'Team',
    Important: 2,
    Checked: true,
    Progress: 100,
    Estimate: 5400,
    Hours: 2.5,
    Meeting: `${day(-3)} 09:30:00+00:00`,
    Project: 1,
    People: [0, 1, 2],
  },
  {
    Task: 'Sketch the pages',
    Status: 'In progress',
    Due: day(5),
    Tags: 'Team',
    Important: 3,
    Progress: 60,
    Estimate: 28_800,
    Hours: 9.5,
    Page: 'https://example.com/sketches',
    Project: 1,
    People: [2],
  },
  {
    Task: 'Book the hall',
    Status: 'To do',
    Due: day(14),
    Tags: 'Team',
    Important: 4,
    Progress: 0,
    Estimate: 2700,
    Hours: 1,
    Project: 2,
    People: [1],
  },
]

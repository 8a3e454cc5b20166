import { expect, test } from '@jest/globals';
import { BadRequestError } from '../../src/licenses/lookup.ts';
import { post, readWebhookUrl } from '../../src/subscriptions/outgoing.ts';

/** Hosts to which nothing may be sent, as they are written, with the address that each means where it is another. */
const HOSTILE = `
  127.0.0.1 127.255.1.2 127.1=127.0.0.1 2130706433=127.0.0.1 0x7f000001=127.0.0.1 0x7f.0.0.1=127.0.0.1
  017700000001=127.0.0.1 0177.0.0.1=127.0.0.1 127.0.0.1.=127.0.0.1 ①②⑦.⓪.⓪.①=127.0.0.1
  127。0。0。1=127.0.0.1 %31%32%37.0.0.1=127.0.0.1 0.0.0.0 0=0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1
  172.31.255.255 192.168.1.1 169.254.0.1 169.254.169.254 2852039166=169.254.169.254 100.64.0.1
  100.100.100.200 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1
  224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16 0xa83f8110=168.63.129.16 [::] [::1] [0:0:0:0:0:0:0:1]=::1
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:8.8.8.8] [::127.0.0.1] [::8.8.8.8] [::ffff:0:127.0.0.1]
  [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::1] [2002:7f00:1::] [2002:a9fe:a9fe::1]
  [2001::1] [2001:0:7f00:1::] [2001:2::1] [2001:10::1] [2001:db8::1] [3fff::1] [100::1] [5f00::1]
  [fc00::1] [fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1]`
  .trim()
  .split(/\s+/)
  .map((each) => {
    const [host = '', address = host.replace(/[[\]]/g, '')] = each.split('=');
    return [host, address] as const;
  });

/** Names of this machine, however they are written. */
const LOCAL_NAMES = 'localhost LOCALHOST localhost. ｌocalhost localhost。 a.localhost a.localhost.'.split(
  ' ',
);

const send = (url: string, addresses: readonly string[], ranges: readonly string[] = []) =>
  post(url, {}, '{}', ranges, {
    addressesOf: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });

const NOT_ALLOWED = { reason: 'address not allowed' };

test.each(HOSTILE)('nothing is sent to %s', async (host, address) => {
  const url = `https://${host}/hook`;
  expect(() => readWebhookUrl(url, [])).toThrow(BadRequestError);
  await expect(send(url, [])).resolves.toEqual(NOT_ALLOWED);
  // As the answer for a name, alone and beside a public one.
  await expect(send('https://hooks.example.com/', [address])).resolves.toEqual(NOT_ALLOWED);
  await expect(send('https://hooks.example.com/', ['8.8.8.8', address])).resolves.toEqual(NOT_ALLOWED);
});

test.each(LOCAL_NAMES)('nothing is sent to %s', async (host) => {
  expect(() => readWebhookUrl(`https://${host}/`, [])).toThrow('public host');
  await expect(send(`https://${host}/`, ['8.8.8.8'])).resolves.toEqual(NOT_ALLOWED);
});

test.each([
  ['an address with a zone', 'fe80::1%lo'],
  ['a text that is no address', 'hooks.example.com'],
  ['an empty text', ''],
])('nothing is sent to %s, whatever a resolver gives', async (_what, address) => {
  await expect(send('https://hooks.example.com/', [address])).resolves.toEqual(NOT_ALLOWED);
});

test.each([
  ['https://hooks.example.com/licenses?token=a', 'https://hooks.example.com/licenses?token=a'],
  ['HTTPS://Hooks.Example.COM', 'https://hooks.example.com/'],
  ['https://hooks.example.com:443/', 'https://hooks.example.com/'],
  [' https://hooks.example.com/a b ', 'https://hooks.example.com/a%20b'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://8.8.8.8/', 'https://8.8.8.8/'],
  ['https://[2600::1]/', 'https://[2600::1]/'],
])('the address of a webhook %s is taken', (text, url) => {
  expect(readWebhookUrl(text, [])).toBe(url);
  expect(readWebhookUrl(url, [])).toBe(url);
});

test.each([
  ...Object.entries({
    'an address of at most 500 characters': [
      ...['', 'hooks.example.com', `https://hooks.example.com/${'x'.repeat(475)}`],
      `https://hooks.example.com/${'ü'.repeat(100)}`,
    ],
    'https://': [
      'http://hooks.example.com/',
      'ftp://a.example/',
      'javascript:alert(1)',
      'file:///etc/passwd',
    ],
    'user name': ['https://user@hooks.example.com/', 'https://:password@hooks.example.com/'],
    fragment: ['https://hooks.example.com/#part', 'https://hooks.example.com/#'],
    'no port': ['https://hooks.example.com:8443/', 'https://hooks.example.com:80/'],
  }).flatMap(([words, texts]) => texts.map((text) => [text, words] as const)),
])('the address of a webhook %s is refused', (text, words) => {
  expect(() => readWebhookUrl(text, [])).toThrow(words);
});

test('the address of a webhook with allowed ranges, may have http, any port and an address in these ranges, and no other', () => {
  const ranges = ['10.1.0.0/16', 'fd00::/8'];
  const taken = [
    'http://10.1.2.3:8080/',
    'https://10.1.2.3/',
    'http://[fd12::1]/',
    'http://hooks.internal:81/',
  ];
  for (const url of taken) expect(readWebhookUrl(url, ranges)).toBe(url);
  for (const url of ['http://10.2.0.1/', 'http://127.0.0.1/', 'https://[fe80::1]/', 'http://8.8.8.8/'])
    expect(() => readWebhookUrl(url, ranges)).toThrow('public host');
});

test.each([
  ['http', 'http://hooks.example.com/'],
  ['another port', 'https://hooks.example.com:8443/'],
])(
  'by %s, a name with a public address is not connected to, whatever ranges are allowed',
  async (_how, url) => {
    await expect(send(url, ['8.8.8.8'], ['10.0.0.0/8', 'fd00::/8'])).resolves.toEqual(NOT_ALLOWED);
    await expect(send(url, ['2600::1'], ['10.0.0.0/8', 'fd00::/8'])).resolves.toEqual(NOT_ALLOWED);
  },
);
